(* What lane_rough.gappa assumes: Power is a power of 2, and Rest what the series of 2^t leaves out, times a share of it. *)
Lemma series s : (0 <= s <= 0.0434)%R ->
  (0 <= exp s - (1 + s * (1 + s * (1 / 2 + s * (1 / 6 + s * (1 / 24))))) <= 1.304 / 10^9)%R.
Proof.
  intros S. split; [| interval with (i_bisect s, i_taylor s, i_degree 8, i_prec 80)].
  (* the series times exp(-s) falls *)
  set (p := fun s => (1 + s * (1 + s * (1 / 2 + s * (1 / 6 + s * (1 / 24)))))%R).
  assert (H : (1 - p 0 * exp (- 0) <= 1 - p s * exp (- s))%R).
  { apply (grows (fun t => 1 - p t * exp (- t))%R (fun t => t^4 / 24 * exp (- t))%R 0.0434);
      [| | exact S].
    - intros t T. unfold p. auto_derive; [exact I |]. field.
    - intros t T. assert (0 < exp (- t))%R by apply exp_pos. assert (0 <= t^4)%R by (apply pow_le; lra). nra. }
  replace (p 0%R) with 1%R in H by (unfold p; field).
  rewrite Ropp_0, exp_0 in H. rewrite exp_Ropp in H.
  assert (E := exp_pos s). assert (L : (p s * / exp s <= 1)%R) by lra.
  apply Rmult_le_compat_r with (r := exp s) in L; [| lra].
  rewrite Rmult_assoc, Rinv_l in L by lra. change (0 <= exp s - p s)%R. lra.
Qed.

Theorem assumed i share :
  (1 / 2^32 <= _any_left <= 1 / 16)%R -> _ln2 = ln 2 -> (1 <= i <= 16)%R ->
  _Power = exp (- (i / 16 * ln 2)) -> (1 / 2^127 <= _Shift <= 1 / 2)%R -> (0 <= share <= 1)%R ->
  _Rest = (share * (_Power * (exp (_t * _ln2) - (1 + _M))))%R ->
  (0 <= _share <= 1)%R -> (1 <= _D <= 2147483648)%R -> (0 <= _of_d <= 1)%R -> (0 <= _of_D <= 2)%R ->
  hypotheses.
Proof.
  intros X L I EP H P R U V W Z.
  assert (C : (0.693147 <= ln 2 <= 0.693148)%R) by (split; interval with (i_prec 60)).
  assert (P1 : (0.5 <= _Power <= 0.958)%R).
  { rewrite EP. split.
    - replace 0.5%R with (exp (- ln 2)) by (rewrite exp_Ropp, exp_ln; lra). apply exp_le. nra.
    - apply Rle_trans with (exp (- (1 / 16 * ln 2))); [apply exp_le; nra | interval with (i_prec 60)]. }
  assert (X0 : (0 <= _t <= 1 / 16)%R).
  { split; [apply down_positive; lra |]. assert (B := down_below (-32) _any_left). lra. }
  assert (T : (0 <= _t * _ln2 <= 0.0434)%R) by (rewrite L; split; nra).
  assert (R1 : (0 <= _Rest <= 1.304 / 10^9)%R).
  { assert (Y := series _ T). constants.
    match type of Y with (0 <= ?x <= _)%R => set (z := x) in * end.
    replace _Rest with (share * _Power * z)%R by (rewrite R; unfold z; field).
    clear - Y P1 P. assert (A : (0 <= share * _Power <= 1)%R) by nra. nra. }
  clear R T X0 EP. rewrite <- L in C. opened.
Qed.
