(* What lane_log.gappa assumes: T is a logarithm, t that of the table, and Rest what the series leaves out. *)
Lemma series u : (0 <= u <= 1 / 16)%R ->
  (0 <= - ln (1 - u) - u * (1 + u * (1 / 2 + u * (1 / 3 + u * (1 / 4 + u * (1 / 5 + u * (1 / 6
      + u * (1 / 7 + u * (1 / 8 + u * (1 / 9 + u * (1 / 10 + u * (1 / 11 + u * (1 / 12)))))))))))) <= 0.69 / 2^55)%R.
Proof.
  intros U. split; [| interval with (i_bisect u, i_taylor u, i_degree 16, i_prec 120)].
  set (f := fun u => (- ln (1 - u) - u * (1 + u * (1 / 2 + u * (1 / 3 + u * (1 / 4 + u * (1 / 5 + u * (1 / 6
      + u * (1 / 7 + u * (1 / 8 + u * (1 / 9 + u * (1 / 10 + u * (1 / 11 + u * (1 / 12)))))))))))))%R).
  replace 0%R with (f 0%R) by (unfold f; rewrite Rminus_0_r, ln_1; ring).
  apply (grows f (fun t => t^12 / (1 - t))%R (1 / 16)); [| | exact U].
  - intros t T. unfold f. auto_derive; [lra |]. field. lra.
  - intros t T. apply Rmult_le_pos; [apply pow_le; lra |]. apply Rlt_le, Rinv_0_lt_compat. lra.
Qed.

Theorem assumed :
  (0 <= _U <= 1 / 16)%R -> _log2e = (1 / ln 2)%R -> _t = ((IZR (Zfloor (_T * 2^53)) + 1) / 2^53)%R ->
  _Rest = (- ln (1 - _U) / ln 2 - _W)%R -> hypotheses.
Proof.
  intros U E T R.
  assert (C := log2e_63). assert (Z := series _U U).
  assert (F := Zfloor_lb (_T * 2^53)). assert (F' := Zfloor_ub (_T * 2^53)).
  assert (R1 : (0 <= _Rest <= 1 / 2^55)%R).
  { constants. replace _Rest with (_log2e * (- ln (1 - _U) - _U * (1 + _U * (1 / 2 + _U * (1 / 3 + _U * (1 / 4
      + _U * (1 / 5 + _U * (1 / 6 + _U * (1 / 7 + _U * (1 / 8 + _U * (1 / 9 + _U * (1 / 10 + _U * (1 / 11
      + _U * (1 / 12))))))))))))))%R.
    - rewrite E. match type of Z with (0 <= ?x <= _)%R => set (z := x) in * end. clear - Z C. nra.
    - rewrite R, E. field. apply Rgt_not_eq. rewrite <- ln_1. apply ln_increasing; lra. }
  clear R Z. rewrite <- E in C. clear E. opened.
Qed.
