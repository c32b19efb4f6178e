//! The two linear programs of the load, each the dual of the other.

use good_lp::{
    Expression, ProblemVariables, ResolutionError, Solution, SolverModel, Variable, microlp,
    variable,
};

use super::load::Class;
use crate::SiteSet;

/// The least load of these classes, and how often to use each quorum of each class:
/// minimise L with Σ often = 1 in each class and Σ share · often <= L · speed at each site.
pub(super) fn strategy(
    classes: &[Class],
    speeds: &[f64],
) -> Result<(f64, Vec<Vec<f64>>), ResolutionError> {
    let mut variables = ProblemVariables::new();
    let load = variables.add(variable().min(0.0));
    let often = choices(&mut variables, classes);
    let mut model = variables.minimise(load).using(microlp);
    for row in &often {
        model.add_constraint(row.iter().sum::<Expression>().eq(1.0));
    }
    for (using, speed) in uses(classes, &often, speeds.len()).into_iter().zip(speeds) {
        model.add_constraint((using - *speed * load).leq(0.0));
    }
    let solution = model.solve()?;
    let value = |row: &Vec<Variable>| row.iter().map(|often| solution.value(*often)).collect();
    Ok((solution.value(load), often.iter().map(value).collect()))
}

/// Site weights that prove how large the load of these classes must be: maximise Σ share · least
/// with Σ speed · weight = 1, where every quorum of a class weighs at least that class's least.
pub(super) fn weights(
    classes: &[Class],
    speeds: &[f64],
) -> Result<(f64, Vec<f64>), ResolutionError> {
    let mut variables = ProblemVariables::new();
    let weights = variables.add_vector(variable().min(0.0), speeds.len());
    let least = variables.add_vector(variable().min(0.0), classes.len());
    let goal: Expression =
        classes.iter().zip(&least).map(|(class, least)| class.share * *least).sum();
    let mut model = variables.maximise(goal.clone()).using(microlp);
    let total: Expression =
        weights.iter().zip(speeds).map(|(weight, speed)| *speed * *weight).sum();
    model.add_constraint(total.eq(1.0));
    for (class, least) in classes.iter().zip(&least) {
        for quorum in &class.quorums {
            let weight: Expression = quorum.iter().map(|site| weights[site.index()]).sum();
            model.add_constraint((weight - *least).geq(0.0));
        }
    }
    let solution = model.solve()?;
    let found = weights.iter().map(|weight| solution.value(*weight)).collect();
    Ok((solution.eval(goal), found))
}

/// How often to use each quorum so that the mean of `delays` is least while no site gets more than
/// `limit` of its speed.
pub(super) fn delays(
    quorums: &[SiteSet],
    delays: &[f64],
    speeds: &[f64],
    limit: f64,
) -> Result<Vec<f64>, ResolutionError> {
    let classes = [Class { share: 1.0, quorums: quorums.to_vec() }];
    let mut variables = ProblemVariables::new();
    let often = choices(&mut variables, &classes);
    let goal: Expression = often[0].iter().zip(delays).map(|(often, delay)| *delay * *often).sum();
    let mut model = variables.minimise(goal).using(microlp);
    model.add_constraint(often[0].iter().sum::<Expression>().eq(1.0));
    for (using, speed) in uses(&classes, &often, speeds.len()).into_iter().zip(speeds) {
        model.add_constraint(using.leq(*speed * limit));
    }
    let solution = model.solve()?;
    Ok(often[0].iter().map(|often| solution.value(*often)).collect())
}

/// A variable for each quorum of each class: how often it is used.
fn choices(variables: &mut ProblemVariables, classes: &[Class]) -> Vec<Vec<Variable>> {
    let row = |class: &Class| variables.add_vector(variable().min(0.0), class.quorums.len());
    classes.iter().map(row).collect()
}

/// How often each of `n` sites is used.
fn uses(classes: &[Class], often: &[Vec<Variable>], n: usize) -> Vec<Expression> {
    let mut uses = vec![Expression::default(); n];
    for (class, often) in classes.iter().zip(often) {
        for (quorum, often) in class.quorums.iter().zip(often) {
            for site in quorum.iter() {
                uses[site.index()].add_mul(class.share, *often);
            }
        }
    }
    uses
}
