# Replicate estimates, standard errors and intervals from R `survey`; writes survey_replicates.json.
# Run in this directory: Rscript survey_replicates.R
suppressPackageStartupMessages(library(survey))
RNGversion("4.0.0")
options(warn = 2)
LEVELS <- c(.90, .95, .99)

# all 17 digits, which jsonlite would cut at 15
exact <- function(x) structure(paste0("[", paste(sprintf("%.17g", x), collapse = ","), "]"), class = "json")
exact_one <- function(x) structure(sprintf("%.17g", x), class = "json")
pair <- function(s) exact(c(coef(s)[[1]], SE(s)[[1]]))

# units[h] PSUs in stratum h, of as many items each as drawn from `items`, which are alike; rows in random order
sample_of <- function(seed, units, items) {
  set.seed(seed)
  H <- length(units)
  stratum <- rep(seq_len(H), units)
  psu <- seq_along(stratum)
  size <- sample(items, length(psu), replace = TRUE)
  unit <- sample(rep(psu, size))
  n <- length(unit)
  h <- stratum[unit]
  truth <- rbinom(n, 1, plogis(rnorm(H)[h] + rnorm(length(psu))[unit]))
  score <- round(plogis(2 * truth - 1 + rnorm(length(psu), sd = .7)[unit] + rnorm(n)), 2)
  x <- round(exp(rnorm(n, sd = .5)), 3)
  d <- data.frame(stratum = h, psu = 1000 + unit, weight = round(exp(rnorm(H))[h] * runif(n, .5, 1.5) + .01, 3),
                  y = round(3 * x + rnorm(H)[h] + rnorm(length(psu))[unit] + rnorm(n), 3), x = x, truth = truth,
                  prediction = as.integer(score >= .5), score = score, domain = rbinom(n, 1, .6))
  transform(d, right = as.integer(truth == prediction), hit = truth * prediction,
            twice_hit = 2 * truth * prediction, marked = truth + prediction)
}
columns <- c("stratum", "psu", "weight", "y", "x", "truth", "prediction", "score", "domain")
data <- list("7 strata" = sample_of(1, rep(2, 7), 1:5), "12 strata" = sample_of(2, rep(2, 12), 1:3),
             "20 strata of items" = sample_of(3, rep(2, 20), c(1, 1)), "30 strata" = sample_of(4, rep(2, 30), 1:4),
             "5 unequal strata" = sample_of(5, c(2, 5, 3, 4, 2), 1:4),
             "12 unequal strata" = sample_of(6, c(3, 2, 2, 5, 4, 2, 3, 2, 4, 5, 2, 3), 1:3))

# share of pairs (positive, negative) in the right order, ties half
auc <- function(w, d) {
  up <- d$truth == 1
  above <- outer(d$score[up], d$score[!up], ">") + outer(d$score[up], d$score[!up], "==") / 2
  sum(outer(w[up], w[!up]) * above) / (sum(w[up]) * sum(w[!up]))
}
correlation <- function(w, d) cov.wt(cbind(d$x, d$y), w / sum(w), cor = TRUE)$cor[1, 2]
median_of <- function(w, d) survey:::qrule_math(d$y, w, .5)
statistics <- list(
  mean = function(d) svymean(~y, d), total = function(d) svytotal(~y, d), ratio = function(d) svyratio(~y, ~x, d),
  accuracy = function(d) svymean(~right, d), precision = function(d) svyratio(~hit, ~prediction, d),
  recall = function(d) svyratio(~hit, ~truth, d), f1 = function(d) svyratio(~twice_hit, ~marked, d),
  auc = function(d) withReplicates(d, auc), median = function(d) withReplicates(d, median_of),
  correlation = function(d) withReplicates(d, correlation))
evaluate <- function(d) lapply(statistics, function(s) pair(s(d)))

stratified <- function(d) svydesign(~psu, strata = ~stratum, weights = ~weight, data = d)
replicated <- function(d, type, rho = 0, mse = TRUE, ...)
  as.svrepdesign(stratified(d), type = type, fay.rho = rho, compress = FALSE, mse = mse, ...)

# one text per replicate, one digit per stratum in numeric order: 1 where the unit that comes first is kept
half_samples <- function(design) {
  d <- design$variables
  first <- match(sort(unique(d$stratum)), d$stratum)
  apply(design$repweights[first, ] > 1, 2, function(kept) paste(as.integer(kept), collapse = ""))
}

intervals <- function(design) {
  df <- degf(design)
  xlogit <- function(level) attr(svyciprop(~right, design, method = "xlogit", level = level), "ci")
  # what svyciprop(method = "logit") does, iterated beyond glm's default of 1e-8
  model <- svyglm(right ~ 1, design, family = quasibinomial, control = glm.control(1e-14, 100))
  f1 <- statistics$f1(design)
  named <- structure(c(f = coef(f1)[[1]]), var = vcov(f1), statistic = "f1", class = "svrepstat")
  log_odds <- svycontrast(named, quote(log(f / (1 - f))))
  lapply(LEVELS, function(level) list(
    level = level, mean = exact(confint(svymean(~y, design), level = level, df = df)),
    accuracy = exact(confint(svymean(~right, design), level = level, df = df)),
    accuracy_logit = exact(xlogit(level)), accuracy_glm = exact(plogis(confint(model, level = level, ddf = df))),
    f1_logit = exact(plogis(confint(log_odds, level = level, df = df)))))
}

case <- function(name, type, rho = 0) {
  design <- replicated(data[[name]], type, rho)
  loose <- replicated(data[[name]], type, rho, mse = FALSE)
  by_domain <- svyby(~y, ~domain, design, svymean)
  domain <- evaluate(subset(design, domain == 1))
  stopifnot(identical(sprintf("[%.17g,%.17g]", by_domain[2, 2], by_domain[2, 3]), as.character(domain$mean)))
  f1 <- svyratio(~twice_hit, ~marked, design, return.replicates = TRUE)
  list(data = name, method = tolower(type), rho = rho, count = ncol(design$repweights), df = degf(design),
       domain_df = degf(subset(design, domain == 1)),
       array = if (type != "JKn") half_samples(design), overall = evaluate(design), domain = domain,
       around_their_mean = lapply(statistics[c("ratio", "f1", "auc")], function(s) pair(s(loose))),
       f1_replicates = exact(f1$replicates), intervals = intervals(design))
}
two_each <- names(data)[1:4]
cases <- c(lapply(two_each, case, type = "BRR"), lapply(two_each, case, type = "Fay", rho = .5),
           lapply(two_each, case, type = "Fay", rho = .3), lapply(names(data), case, type = "JKn"))

# what a total's variance must be: sum over strata of n_h times the variance of the weighted PSU totals
textbook <- function(units, seed) {
  d <- sample_of(seed, units, 1:3)
  list(units = I(units), stratum = d$stratum, psu = d$psu, weight = d$weight, y = d$y,
       variance = exact_one(vcov(svytotal(~y, stratified(d)))[1]))
}
totals <- c(lapply(c(2, 3, 4, 5, 7, 8, 9), function(n) textbook(rep(n, 4), 20 + n)),
            list(textbook(c(2, 6, 3, 10, 4, 2, 5), 31), textbook(rep(6, 3), 32)))

# where R `survey` goes astray: its variance of a total where BRR has more than two units per stratum
astray <- function(units, seed, ...) {
  d <- sample_of(seed, units, c(1, 1))
  list(stratum = d$stratum, weight = d$weight, y = d$y, textbook = exact_one(vcov(svytotal(~y, stratified(d)))[1]),
       variance = exact_one(vcov(svytotal(~y, replicated(d, "BRR", ...)))[1]))
}
said <- function(units, type) tryCatch({
  replicated(sample_of(41, units, c(1, 1)), type)
  "accepted"
}, error = conditionMessage)
fay <- lapply(c(-.1, 1, 1.5), function(rho) {
  design <- replicated(data[["12 strata"]], "Fay", rho)
  se <- SE(svymean(~y, design))[[1]]
  list(rho = rho, smallest_factor = min(design$repweights), se = if (is.finite(se)) exact_one(se))
})
defects <- list(fay = fay, paired = astray(rep(4, 20), 42), merged = astray(rep(3, 20), 43, large = "merge"),
                odd = said(rep(3, 4), "BRR"), single_brr = said(c(2, 1, 2), "BRR"),
                single_jkn = said(c(2, 1, 2), "JKn"), single_bootstrap = said(c(2, 1, 2), "bootstrap"))

# PSUs drawn without replacement from so many per stratum
finite <- function(name, population) {
  d <- data[[name]]
  d$population <- population[d$stratum]
  design <- svydesign(~psu, strata = ~stratum, weights = ~weight, fpc = ~population, data = d)
  list(data = name, population = d$population, total = pair(svytotal(~y, design)))
}
fpc <- list(finite("5 unequal strata", c(4, 9, 3, 8, 5)), finite("12 strata", rep(3, 12)))

# weights that were made elsewhere: the columns of a bootstrap
set.seed(51)
boot <- as.svrepdesign(stratified(data[["12 strata"]]), type = "bootstrap", replicates = 15, compress = FALSE,
                       mse = TRUE)
foreign <- svrepdesign(data = data[["12 strata"]], weights = ~weight, repweights = weights(boot, "analysis"),
                       type = "other", scale = boot$scale, rscales = boot$rscales, combined.weights = TRUE, mse = TRUE)
imported <- list(data = "12 strata", weights = lapply(1:15, function(r) exact(weights(boot, "analysis")[, r])),
                 coefficients = exact(boot$scale * boot$rscales), df = degf(foreign), overall = evaluate(foreign))

found <- list(survey = as.character(packageVersion("survey")), data = lapply(data, function(d) as.list(d[columns])),
              cases = cases, totals = totals, defects = defects, fpc = fpc, imported = imported)
text <- jsonlite::toJSON(found, digits = NA, auto_unbox = TRUE, json_verbatim = TRUE, null = "null")
writeLines(gsub("{", "\n{", text, fixed = TRUE), "survey_replicates.json")
