(* What arc_heights.gappa assumes: how exp(-E) changes with E. *)
Lemma weight E d : (0 <= E)%R -> (-1 / 2^12 <= d <= 1 / 2^12)%R ->
  (Rabs (exp (- (E + d)) - exp (- E)) <= 1.001 * Rabs d / (1 + E))%R.
Proof.
  intros P D.
  assert (A : (exp (- E) <= 1 / (1 + E))%R).
  { assert (B := exp_ineq1_le E). rewrite exp_Ropp. unfold Rdiv. rewrite Rmult_1_l. apply Rinv_le_contravar; lra. }
  assert (B : (Rabs (exp (- d) - 1) <= 1.001 * Rabs d)%R).
  { assert (L := exp_ineq1_le (- d)). assert (U := exp_ineq1_le d).
    assert (I : (exp (- d) * exp d = 1)%R) by (rewrite <- exp_plus, Rplus_opp_l; apply exp_0).
    assert (X := exp_pos (- d)).
    unfold Rabs; destruct (Rcase_abs (exp (- d) - 1)), (Rcase_abs d); nra. }
  replace (- (E + d))%R with (- d + - E)%R by ring. rewrite exp_plus.
  replace (exp (- d) * exp (- E) - exp (- E))%R with ((exp (- d) - 1) * exp (- E))%R by ring.
  rewrite Rabs_mult, (Rabs_pos_eq (exp (- E))) by apply Rlt_le, exp_pos.
  unfold Rdiv in *. rewrite Rmult_1_l in A.
  apply Rmult_le_compat; [apply Rabs_pos | apply Rlt_le, exp_pos | exact B | exact A].
Qed.

Theorem assumed :
  _ln2 = ln 2 -> (1 <= _beta <= 2^33)%R -> (0 <= _share <= 1)%R -> (0 <= _E <= 128)%R ->
  (-1 / 2^116 <= _of_exp <= 1 / 2^116)%R -> (1 <= _height <= 65536)%R -> (1 <= _level <= 65536)%R ->
  (0 <= _E8 <= 2^20)%R -> (0 <= _z16 <= 2^20)%R -> hypotheses.
Proof.
  intros L. intros. assert (C : (0.693 <= ln 2 <= 0.6932)%R) by (split; interval with (i_prec 60)).
  rewrite <- L in C. clear L. opened.
Qed.
