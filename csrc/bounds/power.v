(* The assumptions of power.gappa: how exp(-x) changes between a and b, and a bound of a product of two factors. *)
Lemma changes a b : (0.69 <= a < b)%R -> (-0.51 * (b - a) <= exp (- b) - exp (- a) <= 0)%R.
Proof.
  intros A.
  replace (- b)%R with (- a + - (b - a))%R by ring. rewrite exp_plus.
  assert (P := exp_ineq1_le (- (b - a))).
  assert (B : (exp (- (b - a)) <= 1)%R) by (rewrite <- exp_0; apply exp_le; lra).
  assert (C : (0 < exp (- a) <= 0.51)%R).
  { split; [apply exp_pos |]. apply Rle_trans with (exp (- 0.69)); [apply exp_le; lra | interval with (i_prec 60)]. }
  split; nra.
Qed.

Lemma together a b : (0 <= a <= 1 / 2^61)%R -> (0 <= b <= 1 / 2^61)%R ->
  ((1 + a) * (1 + b) <= 1 + (1 + 1 / 2^60) * (a + b))%R.
Proof. intros A B. nra. Qed.

Lemma apart a b : (0 <= a <= 1 / 2^61)%R -> (0 <= b <= 1 / 2^61)%R ->
  (1 - (1 + 1 / 2^60) * (a + b) <= (1 - a) * (1 - b))%R.
Proof. intros A B. nra. Qed.

Theorem assumed a b :
  (0.69 <= a)%R -> (0.69 <= b)%R -> a <> b -> _slope = ((exp (- a) - exp (- b)) / (a - b))%R ->
  _ln2 = ln 2 -> (-524288 <= _z <= 524288)%R -> (1 <= _whole <= 2)%R -> (-1048576 <= _k <= 1048576)%R ->
  (-606 / 2^127 <= _value - _Exp <= 606 / 2^127)%R -> (0 <= _size <= 2^126)%R ->
  (1 / 2 <= _mantissa <= 1)%R -> (1 / 2^128 <= _Scale <= 1)%R -> (2 <= _Long <= 2^126)%R ->
  (0 <= _bits <= 378197)%R -> (-2^60 <= _bits - 1048699 * _t <= 3)%R -> (1 / 2^128 <= _t <= 2^33)%R ->
  (1 <= _large <= 2^33)%R -> hypotheses.
Proof.
  intros A B N S L. intros.
  assert (L2 : (0.693147 <= ln 2 <= 0.693148)%R) by (split; interval with (i_prec 60)).
  assert (P : (-0.51 <= _slope <= 0)%R).
  { rewrite S. destruct (Rlt_le_dec a b) as [E | E].
    - assert (G := changes a b (conj A E)).
      replace ((exp (- a) - exp (- b)) / (a - b))%R with ((exp (- b) - exp (- a)) / (b - a))%R
        by (field; lra).
      split; [apply Rmult_le_reg_r with (b - a)%R | apply Rmult_le_reg_r with (b - a)%R];
        try lra; unfold Rdiv; rewrite ?Rmult_assoc, ?Rinv_l by lra; lra.
    - assert (F : (b < a)%R) by lra. assert (G := changes b a (conj B F)).
      split; [apply Rmult_le_reg_r with (a - b)%R | apply Rmult_le_reg_r with (a - b)%R];
        try lra; unfold Rdiv; rewrite ?Rmult_assoc, ?Rinv_l by lra; lra. }
  rewrite <- L in L2. clear S L. opened.
Qed.
