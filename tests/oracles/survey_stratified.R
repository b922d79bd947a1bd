# Stratified means, standard errors, Wald and Wilson limits from R `survey`; writes survey_stratified.json.
# Run in this directory: Rscript survey_stratified.R
suppressPackageStartupMessages(library(survey))
designs <- list(
  list(size = c(360, 359, 360, 359, 359), labeled = c(20, 20, 20, 20, 20), correct = c(12, 17, 19, 20, 20)),
  list(size = c(30, 70), labeled = c(8, 9), correct = c(5, 8)),
  list(size = c(1000), labeled = c(50), correct = c(47)),
  list(size = c(12, 40, 9000), labeled = c(12, 10, 60), correct = c(7, 4, 58)),
  list(size = c(128, 9872), labeled = c(40, 260), correct = c(25, 259)))

one <- function(d, level) {
  rows <- do.call(rbind, lapply(seq_along(d$size), function(k) data.frame(
    stratum = k, size = d$size[k], right = rep(c(1, 0), c(d$correct[k], d$labeled[k] - d$correct[k])))))
  design <- svydesign(~1, strata = ~stratum, fpc = ~size, data = rows)
  mean <- svymean(~right, design)
  a <- as.numeric(coef(mean)); v <- as.numeric(vcov(mean)); z <- qnorm((1 + level) / 2)
  # Wilson: the two p at which a score test with a(1-a)/v trials just rejects a
  score <- function(p) (a - p)^2 - z^2 * p * (1 - p) / (a * (1 - a) / v)
  wilson <- c(uniroot(score, c(0, a), tol = 1e-14)$root, uniroot(score, c(a, 1), tol = 1e-14)$root)
  list(stratum_size = I(d$size), labeled = I(d$labeled), correct = I(d$correct), level = level, estimate = a,
       variance = v, wald = as.numeric(confint(mean, level = level, df = Inf)), wilson = wilson)
}
cases <- unlist(lapply(c(.90, .95, .99), function(level) lapply(designs, one, level = level)), recursive = FALSE)
jsonlite::write_json(list(survey = as.character(packageVersion("survey")), cases = cases), "survey_stratified.json",
                     digits = NA, auto_unbox = TRUE, pretty = TRUE)
