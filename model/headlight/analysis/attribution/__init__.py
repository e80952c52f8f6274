"""Attribution: how much the parts of a model add to a logit, with norms and activations linearized."""
