"""The distance Σ w z²: quadratic programs, and a tree over senses."""
