"""A mass of 1 kg on a slide, pushed by a force F: after 2 s it is at 2 F; models put parameters before it."""

PUSHED_MASS = """
ground: {markers: {O: [0, 0, 0]}}
bodies: {mass: {mass: 1, inertia: [1, 1, 1], markers: {O: [0, 0, 0]}}}
joints: {slide: {type: prismatic, between: [ground.O, mass.O], axis: [1, 0, 0]}}
forces: {push: {type: force, acts_on: slide.distance, value: F}}
degrees_of_freedom: {slide.distance: {position: 0}}
objectives: {x: {final: mass.O.x}}
simulation: {t_end: 2, step: 0.1, formulation: {type: index1}, integrator: {type: rk4}}
"""
