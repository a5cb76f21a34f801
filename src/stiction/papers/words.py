"""What the papers say, in a few sentences per experiment, and what each figure shows: for the report."""

from __future__ import annotations

PAPERS = {
    "st96": "D. E. Stewart, J. C. Trinkle, An implicit time-stepping scheme for rigid body dynamics with inelastic "
    "collisions and Coulomb friction, Int. J. Numer. Meth. Engng. 39 (1996) 2673–2691",
    "ah03": "G. D. Hart, M. Anitescu, A hard-constraint time-stepping approach for rigid multibody dynamics with "
    "joints, contact, and friction, TAPIA 2003",
    "s00": "D. E. Stewart, Simulation of rigid-body dynamics with impact and friction, a survey, University of Iowa",
    "pr11": "T. Preclik, U. Rüde, Solution existence and non-uniqueness of Coulomb friction, technical report, "
    "Erlangen, 2011",
    "ttp01": "J. C. Trinkle, J. A. Tzitzouris, J. S. Pang, Dynamic multi-rigid-body systems with concurrent "
    "distributed contacts: theory and examples, SAND2001-0076, Sandia National Laboratories, 2001",
}

SAYS = {
    "st96-rod": "A rod with round ends falls onto a table and hits it in a state for which force–acceleration "
    "methods have no solution. The time step has one: contacts at 0.383 s and 0.548 s, 0.02 s of sliding, and a "
    "spike of the angular velocity that lasts one step. Steps of 1/25 s are not sufficient.",
    "st96-balls-two": "A ball thrown at another. No data are printed; the balls are those of Table 1.",
    "st96-balls-four": "A ball thrown at three in a line: Table 1 prints errors of positions and velocities "
    "against the finest step, and the variation of the velocity. LCPs are sometimes as large as 70 × 70. Angular "
    "errors are about an order of magnitude larger than the others.",
    "st96-large-velocities": "§3.6: with gaps that are no half-spaces the reaction can be far in excess of the real "
    "one, and the linearised method has been observed to produce extremely large velocities that are entirely "
    "unphysical. No case is printed.",
    "ah03-ellipse": "An ellipse dropped onto a tabletop: with stabilisation the infeasibility swings in a narrow "
    "range, without it it drifts, and is more than 100 times larger toward the end.",
    "ah03-disks": "21 disks fall between slanted walls; at the end all are separated and on the table. With "
    "stabilisation the infeasibility is smaller and corrected whenever it is large; toward the end it is essentially "
    "zero in both methods. Steps can be much larger than those of explicit penalty methods.",
    "ah03-claims": "Stated as orders, without numbers: with stabilisation the infeasibility of a step is O(h²|v|²) "
    "and does not add up over time; the convex relaxation is off by at most a constant times the largest µλ, "
    "friction times slip.",
    "ah03-brazil-nut": "One large disk among 200 small ones in a shaken box, 75 s with steps of 0.1 s: after a "
    "while the large one emerges on top, after a number of shakes comparable to that of molecular dynamics.",
    "s00-bouncing-ball": "Eq. 3.9–3.13: Newton's law at the level of velocities gives the coefficient e at every "
    "bounce and steps through the Zeno time. No numbers are printed; the closed forms are known.",
    "s00-random-restitution": "To ask for f(q⁺) ⊥ c_n instead of eq. 3.11 does not work: the discretisation "
    "behaves as if it had a random coefficient of restitution, which depends on when in the step the impact falls.",
    "s00-billiards": "Figure 3: a thrown ball falls and collides with the first of three on a flat table; e = 0.9, "
    "µ about 0.4. Nothing else is printed.",
    "s00-as-printed": "Eq. 3.9–3.13 hold for a contact where f(q + h v) < 0, and otherwise it has no impulse. The mass "
    "is taken at the end of the step; to project is left to the user. No numbers are printed.",
    "s00-newton-gains": "Newton's law is known to sometimes give an increase in the total energy when friction is "
    "involved. No example is printed.",
    "s00-poisson-loses": "Poisson's law is known to give loss of energy for some situations with e = 1. No example "
    "is printed.",
    "s00-weak-star": "The impulses of ever smaller steps do not converge in norm or weakly, but weak*: against "
    "continuous functions. The limit obeys the laws (theorem 1), positions converge uniformly, and energy never "
    "grows.",
    "s00-inclusion": "The weak form of a measure differential inclusion: the mean of the forces over any continuous "
    "test function lies in the closed convex hull of the friction cones on its support. It is used in proofs, for one "
    "contact; no run is tested.",
    "s00-stribeck": "Where the coefficient of friction falls with the speed, sliding is very often dynamically "
    "unstable, and the transition from no slip to large speeds can be so quick that there seem to be just two "
    "coefficients.",
    "s00-painleve": "Painlevé's rod has no finite contact force though nothing hits anything; an impulse without "
    "impact solves it, and time-stepping finds it. No numbers are printed.",
    "pr11-painleve-none": "A slender rod slides on its lower end. No contact force satisfies the "
    "force–acceleration problem: 0 solutions.",
    "pr11-painleve-many": "With a torque that lifts it, the same rod has two solutions: it opens, or it slides on "
    "with λ₂ = (7.5545, 11.3317).",
    "pr11-impulse": "As impulses the same instant has two solutions for both setups: Λ₁ = 0 and Λ₂ = (0.3248, "
    "0.4375), after which the tip rests. Whether some solution always leads to a solvable force problem is left "
    "open.",
    "pr11-stepping": "One step of 0.01: the rod alone has one solution, (0.3329, 0.4407); with the torque there "
    "are three: it opens, it slides, it comes to rest. They tend to those of forces and impulses as the step "
    "shrinks.",
    "pr11-solvers": "The paper begins with it: the convergence of fixed-point iterations can deteriorate or even fail "
    "if multiple solutions exist. No iteration is shown.",
    "pr11-compliance": "Table 1: on a contact with springs and dampers the integrals of the forces, until the "
    "contact breaks, tend to Λ₂ as the stiffness grows. With the torque they tend to 0, and this does not depend on "
    "interpenetration at the start.",
    "pr11-hammer": "After Chatterjee: hit the free end of a rod that lies over the edge of a table. Its other end "
    "presses on the table while it begins to lift, which the complementarity law of a rigid rod does not show. No "
    "numbers.",
    "pr11-critical": "A slender rod can lose every solution from µ = 4/3 on, at an angle of 63.435°.",
    "ttp01-spin-aligned": "A ball spins in place under elliptic torsional friction: both methods are on the exact "
    "line, since a direction lies where friction acts. LCPs of 22 unknowns.",
    "ttp01-spin-misaligned": "With directions that miss the exact friction the ball slows down later; the "
    "torsional impulse is the analytical one, and a very small residual velocity is left.",
    "ttp01-slide-aligned": "A ball thrown without spin begins to roll at 0.291 s with 1.429 rad/s, by both methods.",
    "ttp01-slide-misaligned": "With three directions, none of them along the motion, the ball is pushed sideways, "
    "slides longer, and ends in the same rolling motion.",
    "ttp01-bowling": "A bowling ball that hooks: with 40 directions sliding stops at 7.9 s, with the ellipsoid "
    "about 0.4 s sooner; friction is saturated from about 4.5 s on. The paths are too close to see a difference.",
    "ttp01-two-spheres": "A ball is driven along the seam of two spheres. At h = 0.1 s Stewart's method begins to "
    "bounce at 2 s and loses contact for good at 3.6 s, the implicit method is smooth; bouncing is gone at h = "
    "0.0012 s; at 0.0004 s the moment of friction chatters, and nothing else.",
}

CAPTIONS = {
    "st96-rod": "Motion, velocities, and the residual of every solve.",
    "st96-rod-fig2": "As figure 2: the motion at h = 0.0025 s; the dot marks the “+” end.",
    "st96-rod-fig3": "As figure 3: vertical velocity.",
    "st96-rod-fig4": "As figure 4: angular velocity, with its spike of one step.",
    "st96-rod-fig5": "As figure 5: horizontal velocity.",
    "st96-rod-convergence": "Errors against h = 0.000625 s, in the norms of Table 1 and weakly for the impulses.",
    "st96-balls-two-air": "Thrown at 2.5 m/s: they meet in the air.",
    "st96-balls-two-rolling": "Thrown at 1.5 m/s: the ball lands, rolls, and meets the other.",
    "st96-balls-four-fig1": "As figure 1: the circular friction cone and eight directions in it.",
    "st96-balls-four-fig6": "As figure 6: impulses at the collision, in N s.",
    "st96-balls-four": "As figures 7 and 8: elevation and plan.",
    "st96-balls-four-gravity": "Study: how far the errors are from Table 1, by g, which is not printed.",
    "st96-balls-four-convergence": "Errors against h = 0.00125 s, in the norms of Table 1.",
    "st96-large-velocities": "A lever at a stop near its dead centre, by phase of the impact, and random systems.",
    "st96-large-velocities-study": "The same with 500 random systems of each family.",
    "ah03-ellipse-fig1": "As figure 1: ten frames.",
    "ah03-ellipse-fig2": "As figure 2: infeasibility with and without stabilisation.",
    "ah03-disks-frames": "As figures 3–6: frames.",
    "ah03-disks-fig8": "As figure 8: infeasibility with and without stabilisation.",
    "ah03-disks-eps": "The same for eps by the guideline v_max h.",
    "ah03-claims": "Violations and the effect of the relaxation, with their orders.",
    "ah03-brazil-nut-fig9": "As figure 9: four moments.",
    "ah03-brazil-nut-rise": "The height of the large disk, and of how much lies above it.",
    "ah03-brazil-nut-fig7": "As figure 7: the cost of the steps, and the contacts in them.",
    "ah03-brazil-nut-study": "The rise of the large disk by law and step, over ten seeds, with 95 % confidence.",
    "s00-bouncing-ball": "Heights, the last bounces, energies and errors.",
    "s00-random-restitution": "The ratio of velocities against the phase of the impact within the step.",
    "s00-billiards-fig2": "As figure 2: the friction cone and its polyhedral approximation.",
    "s00-billiards": "As figure 3: elevation and plan.",
    "s00-as-printed": "The last bounces, billiards, Painlevé's shock and errors, by the printed scheme and by Moreau.",
    "s00-newton-gains": "Energy after an impact over that before, by law.",
    "s00-poisson-loses": "Energy lost with e = 1.",
    "s00-weak-star": "In which sense impulses converge.",
    "s00-inclusion": "Contact forces, and how much of them is outside the cones; crosses: with too little friction.",
    "s00-inclusion-study": "The same down to steps of 0.5 ms.",
    "s00-stribeck": "The law, the phase portrait, growth rates, and the end of a stick.",
    "s00-painleve-fig1": "As figure 1: Painlevé's rod.",
    "s00-painleve": "The rod, convergence, impulse and energy.",
    "pr11-painleve-none-fig2": "As figure 2: the rod.",
    "pr11-painleve-none": "The normal acceleration against the normal force: no force fits.",
    "pr11-painleve-none-map": "Which angles and coefficients have no solution; dashed: the closed form.",
    "pr11-painleve-many": "The normal acceleration against the normal force: two forces fit.",
    "pr11-painleve-many-map": "Which torques have one solution and which have two; dashed: the closed form.",
    "pr11-impulse-fig3": "As figure 3: impulses; Signorini's law (dark), Coulomb's (light), the cone in grey.",
    "pr11-impulse-corner": "A body tips into a corner: no finite force after its only impulse.",
    "pr11-stepping-fig4": "As figure 4: the step of the rod alone has one solution.",
    "pr11-stepping-fig5": "As figure 5: with the torque it has three.",
    "pr11-stepping-orders": "The distances of the three from their limits.",
    "pr11-solvers": "The branch that each solver takes, from nothing and from random starts; random problems.",
    "pr11-solvers-study": "The same with 4000 random problems.",
    "pr11-compliance-fig6": "As figure 6: forces for two stiffnesses. Friction peaks where sliding ends; with the "
    "printed data the contact then stays closed.",
    "pr11-compliance-fig7": "As figure 7: force integrals over the stiffness, printed and ours, with the impulse Λ and "
    "the answer of a time step.",
    "pr11-compliance": "Forces, convergence, limits of other dampers, and jamming.",
    "pr11-compliance-frozen": "What Table 1 tells of its making: the Jacobian was frozen.",
    "pr11-hammer": "The rod, its forces, and the limits of a stiff and of a soft torsion spring.",
    "pr11-critical-fig8": "As figure 8: the sliding inertia against the angle, and the friction that it takes.",
    "ttp01-spin-aligned-fig2": "As figure 2: the ball on a half-space, and its contact frame.",
    "ttp01-spin-aligned-fig3": "As figure 3: the ellipsoid, and the polyhedron of 20 directions in it.",
    "ttp01-spin-aligned-fig4": "As figure 4: velocities.",
    "ttp01-spin-aligned-fig5": "As figure 5: friction.",
    "ttp01-spin-misaligned-fig6": "As figure 6: six directions, all 36° off.",
    "ttp01-spin-misaligned-fig7": "As figure 7: velocities.",
    "ttp01-spin-misaligned-fig8": "As figure 8: friction.",
    "ttp01-slide-aligned-fig9": "As figure 9: velocities.",
    "ttp01-slide-aligned-fig10": "As figure 10: friction.",
    "ttp01-slide-misaligned-fig11": "As figure 11: three directions in the tangent plane.",
    "ttp01-slide-misaligned-fig12": "As figure 12: velocities.",
    "ttp01-slide-misaligned-fig13": "As figure 13: friction.",
    "ttp01-bowling-fig14": "As figure 14: velocities.",
    "ttp01-bowling-fig15": "As figure 15: friction.",
    "ttp01-bowling-fig16": "As figure 16: the path.",
    "ttp01-bowling-fig17": "As figure 17: how far Stewart's friction is from the ellipsoid.",
    "ttp01-bowling-convergence": "Errors of both methods, each against its own exact answer.",
    "ttp01-two-spheres-fig18": "As figure 18: the ball on two fixed spheres, with its exact path.",
    "ttp01-two-spheres-fig19": "As figure 19: velocities by Stewart's method, h = 0.1 s.",
    "ttp01-two-spheres-fig20": "As figure 20: its contact forces.",
    "ttp01-two-spheres-fig21": "As figure 21: velocities by the implicit method, h = 0.1 s.",
    "ttp01-two-spheres-fig22": "As figure 22: its contact forces.",
    "ttp01-two-spheres-fig23": "As figure 23: tangential friction. With 20 directions the ball slips from 2.57 s on; "
    "the kink is friction on an edge of their polyhedron, the cusp where its moment is gone, the bend at 3.27 s where "
    "it reaches a direction, and at 0.50 s it changes sign.",
    "ttp01-two-spheres-fig24": "As figure 24: velocities of both methods.",
    "ttp01-two-spheres-fig25": "As figure 25: the moment of friction.",
    "ttp01-two-spheres-chatter": "Study: as figure 25, at its step, by thirteen ways to compute it.",
    "ttp01-two-spheres-convergence": "Errors of the implicit method against the exact motion.",
}
