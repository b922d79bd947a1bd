"""Evaluate classifiers honestly with few labels."""
from workbench.allocation import Allocation, allocate, allocation_variance
from workbench.intervals import stratified_interval
from workbench.results import Interval, Result
from workbench.stratification import Strata, stratify
from workbench.stratified import BudgetPlan, StratifiedEstimate, plan_budget, stratified_accuracy
