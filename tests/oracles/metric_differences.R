# Two models on the same items: AUC by DeLong from R `pROC`, other metrics from R `survey`.
# Run in this directory: Rscript metric_differences.R, which writes metric_differences.json.
# The 113 patients are `aSAH` of pROC: Turck et al., Intensive Care Medicine 36, 2010,
# doi 10.1007/s00134-009-1641-y. The other data are generated here.
suppressPackageStartupMessages({
  library(survey)
  library(pROC)
})
RNGversion("4.0.0")
options(warn = 2)

# all 17 digits, which jsonlite would cut at 15
exact <- function(x) {
  structure(paste0("[", paste(sprintf("%.17g", x), collapse = ","), "]"), class = "json")
}
pair <- function(s) exact(c(coef(s)[[1]], SE(s)[[1]]))

# ---- paired DeLong
data(aSAH)
patients <- data.frame(poor = as.integer(aSAH$outcome == "Poor"), s100b = aSAH$s100b,
                       wfns = as.integer(aSAH$wfns), ndka = aSAH$ndka)
curve <- function(name) {
  roc(patients$poor, patients[[name]], levels = 0:1, direction = "<", quiet = TRUE)
}
compare <- function(first, second, level = .95) {
  one <- curve(first)
  two <- curve(second)
  test <- roc.test(one, two, method = "delong", paired = TRUE, conf.level = level)
  variances <- c(var(one, method = "delong"), var(two, method = "delong"))
  list(first = first, second = second, level = level, auc = exact(c(auc(one), auc(two))),
       variances = exact(variances), covariance = exact(cov(one, two, method = "delong")),
       z = exact(test$statistic), pvalue = exact(test$p.value), interval = exact(test$conf.int))
}
delong <- list(compare("s100b", "wfns"), compare("s100b", "ndka"), compare("wfns", "ndka", .9))

# ---- two models of clustered items: PSUs in strata, items of a PSU alike in class and in errors
sample_of <- function(seed, units, items) {
  set.seed(seed)
  stratum <- rep(seq_along(units), units)
  psu <- seq_along(stratum)
  unit <- rep(psu, sample(items, length(psu), replace = TRUE))
  n <- length(unit)
  h <- stratum[unit]
  truth <- rbinom(n, 1, plogis(rnorm(length(psu), sd = .8)[unit] - .4))
  shared <- rnorm(length(psu), sd = .5)[unit] + rnorm(n, sd = .7)
  score <- function(distance) {
    round(plogis(distance * (truth - .5) + shared + rnorm(n, sd = .8)), 2)
  }
  weight <- round(exp(rnorm(length(units), sd = .5))[h] * runif(n, .5, 1.5), 3)
  d <- data.frame(stratum = h, psu = 100 + unit, weight = weight, truth = truth,
                  old_score = score(1.2), new_score = score(2))
  transform(d, old = as.integer(old_score >= .5), new = as.integer(new_score >= .5))
}
columns <- c("stratum", "psu", "weight", "truth", "old", "new", "old_score", "new_score")
METRICS <- c("accuracy", "precision", "recall", "f1")

# a metric of a model is a ratio of two totals, top and bottom
parts <- function(d, metric, model) {
  guess <- d[[model]]
  hit <- d$truth * guess
  switch(metric, accuracy = list(d$truth == guess, rep(1, nrow(d))), precision = list(hit, guess),
         recall = list(hit, d$truth), f1 = list(2 * hit, d$truth + guess))
}
with_parts <- function(d) {
  for (metric in METRICS) for (model in c("old", "new")) {
    totals <- parts(d, metric, model)
    d[[paste(metric, model, "top", sep = "_")]] <- as.numeric(totals[[1]])
    d[[paste(metric, model, "bottom", sep = "_")]] <- as.numeric(totals[[2]])
  }
  d
}
# old less new
difference <- function(metric, design) {
  names <- paste0(metric, c("_old_top", "_old_bottom", "_new_top", "_new_bottom"))
  replicated <- inherits(design, "svyrep.design")
  totals <- svytotal(reformulate(names), design, return.replicates = replicated)
  contrast <- sprintf("%s / %s - %s / %s", names[1], names[2], names[3], names[4])
  pair(svycontrast(totals, parse(text = contrast)[[1]]))
}
# proportion of pairs (positive, negative) in the right order, ties half
auc_of <- function(w, truth, score) {
  up <- truth == 1
  above <- outer(score[up], score[!up], ">") + outer(score[up], score[!up], "==") / 2
  sum(outer(w[up], w[!up]) * above) / (sum(w[up]) * sum(w[!up]))
}
auc_difference <- function(w, d) auc_of(w, d$truth, d$old_score) - auc_of(w, d$truth, d$new_score)

case <- function(name, d, ...) {
  design <- svydesign(data = with_parts(d), weights = ~weight, ...)
  type <- if (length(unique(d$stratum)) > 1) "JKn" else "JK1"
  leaving_out <- as.svrepdesign(design, type = type, compress = FALSE, mse = TRUE)
  linearized <- sapply(METRICS, difference, design, simplify = FALSE)
  jackknife <- sapply(METRICS, difference, leaving_out, simplify = FALSE)
  jackknife$auc <- pair(withReplicates(leaving_out, auc_difference))
  list(name = name, data = as.list(d[columns]), df = degf(design), linearized = linearized,
       jackknife = jackknife)
}
in_strata <- sample_of(1, c(4, 3, 6, 2, 5), 2:6)
in_clusters <- transform(sample_of(2, 14, 1:7), weight = 1)
one_by_one <- transform(sample_of(3, 60, c(1, 1)), weight = 1)
cases <- list(case("strata of clusters", in_strata, ids = ~psu, strata = ~stratum),
              case("clusters", in_clusters, ids = ~psu),
              case("independent items", one_by_one, ids = ~1))

versions <- lapply(list(pROC = "pROC", survey = "survey"),
                   function(name) as.character(packageVersion(name)))
result <- list(versions = versions, patients = as.list(patients), delong = delong, cases = cases)
text <- jsonlite::toJSON(result, digits = NA, auto_unbox = TRUE, json_verbatim = TRUE)
writeLines(gsub("{", "\n{", text, fixed = TRUE), "metric_differences.json")
