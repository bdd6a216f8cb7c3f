(* The assumption of exp_64_series.gappa: Exp0 is exp(-r/256). *)
Theorem assumed : (0 <= _r <= 1)%R -> _Exp0 = exp (- _T) -> hypotheses.
Proof.
  intros R E.
  assert (T0 : (0 <= _T <= 1 / 256)%R) by (constants; lra).
  opened; rewrite E; set (t := (_r / 256)%R) in *; clearbody t;
    interval with (i_bisect t, i_taylor t, i_degree 8, i_prec 100).
Qed.
