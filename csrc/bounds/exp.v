(* The assumptions of exp.gappa: Exp0 is exp(-rest/256), rest slightly more than r. *)
Lemma squared x y : (x = exp y -> x * x = exp (2 * y))%R.
Proof. intros ->. rewrite <- exp_plus. f_equal. ring. Qed.

Theorem assumed r rest :
  (0 <= r <= rest)%R -> (rest - r <= 185 / 2^128)%R -> _Exp0 = exp (- rest / 256) -> _Exp = exp (- r) ->
  (-15 / 2^138 <= _p0 - _Exp0 <= 49 / 2^132)%R -> (127 / 128 <= _p0 <= 1)%R ->
  (-1 / 2^127 <= _shift - _v8 <= 0)%R -> hypotheses.
Proof.
  intros R D E0 E P P1 S.
  assert (E8 : _Exp8 = exp (- rest)).
  { apply squared, squared, squared, squared, squared, squared, squared, squared in E0.
    rewrite E0. f_equal. field. }
  assert (H : (- (rest - r) <= exp (- rest) - exp (- r) <= 0)%R).
  { replace (- rest)%R with (- r + - (rest - r))%R by ring. rewrite exp_plus.
    assert (A := exp_ineq1_le (- (rest - r))).
    assert (B : (exp (- (rest - r)) <= 1)%R) by (rewrite <- exp_0; apply exp_le; lra).
    assert (C : (0 < exp (- r) <= 1)%R)
      by (split; [apply exp_pos | rewrite <- exp_0; apply exp_le; lra]).
    split; nra. }
  rewrite <- E, <- E8 in H. clear E0 E8 E.
  opened.
Qed.
