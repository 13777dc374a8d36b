"""The attack with integer knowledge, by mixed integer programs."""
