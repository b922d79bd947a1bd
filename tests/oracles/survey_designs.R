# Certainty PSUs, weights of 0 and JK2 replicates in R `survey`; writes survey_designs.json.
# Run in this directory: Rscript survey_designs.R
suppressPackageStartupMessages(library(survey))
RNGversion("4.0.0")
options(warn = 1)

exact <- function(x) structure(paste0("[", paste(sprintf("%.17g", x), collapse = ","), "]"), class = "json")
pair <- function(s) exact(c(coef(s)[[1]], SE(s)[[1]]))

# psus[h] of population[h] PSUs in stratum h, items of each PSU alike
sample_of <- function(seed, psus, population) {
  set.seed(seed)
  stratum <- rep(seq_along(psus), psus)
  unit <- rep(seq_along(stratum), sample(2:6, length(stratum), replace = TRUE))
  n <- length(unit)
  h <- stratum[unit]
  truth <- rbinom(n, 1, plogis(rnorm(length(stratum))[unit]))
  wrong <- rbinom(n, 1, plogis(rnorm(length(stratum))[unit] - 1.5))
  prediction <- ifelse(wrong == 1, 1 - truth, truth)
  data.frame(stratum = h, psu = 100 + unit, weight = round(population[h] / psus[h] * runif(n, .5, 1.5), 3),
             fpc = population[h], truth = truth, prediction = prediction, right = 1 - wrong,
             twice_hit = 2 * truth * prediction, marked = truth + prediction)
}
estimates <- function(design) list(accuracy = pair(svymean(~right, design)),
                                   f1 = pair(svyratio(~twice_hit, ~marked, design)))
columns <- c("stratum", "psu", "weight", "fpc", "truth", "prediction")

certain <- sample_of(1, c(4, 1, 3, 1, 5), c(40, 1, 12, 1, 30))
with_fpc <- svydesign(ids = ~psu, strata = ~stratum, weights = ~weight, fpc = ~fpc, data = certain)

outside <- sample_of(2, c(4, 3, 5), c(40, 30, 50))
outside$weight[outside$psu %% 3 == 0 | seq_len(nrow(outside)) %% 4 == 0] <- 0
everyone <- transform(outside, design_weight = ifelse(weight > 0, weight, 1))
inside <- subset(svydesign(ids = ~psu, strata = ~stratum, weights = ~design_weight, data = everyone), weight > 0)

pairs <- sample_of(3, rep(2, 8), rep(20, 8))
first <- !duplicated(pairs[c("stratum")])
first_psu <- pairs$psu[first][pairs$stratum]
weights <- sapply(1:8, function(h) pairs$weight * ifelse(pairs$stratum == h, 2 * (pairs$psu == first_psu), 1))
jk2 <- svrepdesign(data = pairs, weights = ~weight, repweights = weights, type = "JK2", combined.weights = TRUE,
                   mse = TRUE)

result <- list(
  certain = list(data = certain[columns], df = degf(with_fpc), estimates = estimates(with_fpc)),
  outside = list(data = outside[columns], df = degf(inside), estimates = estimates(inside)),
  jk2 = list(data = pairs[columns], scale = jk2$scale, rscales = jk2$rscales, estimates = estimates(jk2)),
  version = as.character(packageVersion("survey")))
writeLines(jsonlite::toJSON(result, dataframe = "columns", auto_unbox = TRUE, json_verbatim = TRUE, digits = NA),
           "survey_designs.json")
