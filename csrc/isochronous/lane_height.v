(* What lane_height.gappa assumes: Quarter and Sixteenth are powers of 2, and Rest what the series of exp(S) leaves
   out, times a share of them. *)
Lemma series s : (0 <= s <= 0.0434)%R ->
  (0 <= exp s - (1 + s * (1 + s * (1 / 2 + s * (1 / 6 + s * (1 / 24 + s * (1 / 120 + s * (1 / 720
      + s * (1 / 5040 + s * (1 / 40320))))))))) <= 1 / 2^58)%R.
Proof.
  intros S. split; [| interval with (i_bisect s, i_taylor s, i_degree 12, i_prec 120)].
  (* the series times exp(-s) falls *)
  set (p := fun s => (1 + s * (1 + s * (1 / 2 + s * (1 / 6 + s * (1 / 24 + s * (1 / 120 + s * (1 / 720
      + s * (1 / 5040 + s * (1 / 40320)))))))))%R).
  assert (H : (1 - p 0 * exp (- 0) <= 1 - p s * exp (- s))%R).
  { apply (grows (fun t => 1 - p t * exp (- t))%R (fun t => t^8 / 40320 * exp (- t))%R 0.0434);
      [| | exact S].
    - intros t T. unfold p. auto_derive; [exact I |]. field.
    - intros t T. assert (0 < exp (- t))%R by apply exp_pos. assert (0 <= t^8)%R by (apply pow_le; lra). nra. }
  replace (p 0%R) with 1%R in H by (unfold p; field).
  rewrite Ropp_0, exp_0 in H. rewrite exp_Ropp in H.
  assert (E := exp_pos s). assert (L : (p s * / exp s <= 1)%R) by lra.
  apply Rmult_le_compat_r with (r := exp s) in L; [| lra].
  rewrite Rmult_assoc, Rinv_l in L by lra. change (0 <= exp s - p s)%R. lra.
Qed.

Theorem assumed q s share :
  (1 / 2^52 <= _any_left <= 1 / 16)%R -> _ln2 = ln 2 -> (0 <= q <= 3)%R -> (1 <= s <= 4)%R ->
  _Quarter = exp (- (q / 4 * ln 2)) -> _Sixteenth = exp (- (s / 16 * ln 2)) ->
  (1 / 2^127 <= _Shift <= 1 / 2)%R -> (0 <= share <= 1)%R ->
  _Rest = (share * (_Power * (exp _S - (1 + _M))))%R -> hypotheses.
Proof.
  intros X L Q S EQ ES H P R.
  assert (C : (3121657384082679 / 2^52 <= ln 2 <= (3121657384082679 + 1) / 2^52)%R)
    by (split; interval with (i_prec 100)).
  assert (Q1 : (0.59 <= _Quarter <= 1)%R).
  { rewrite EQ. split; [interval with (i_prec 60) |]. rewrite <- exp_0. apply exp_le. nra. }
  assert (S1 : (0.84 <= _Sixteenth <= 0.958)%R) by (rewrite ES; split; interval with (i_prec 60)).
  assert (X0 : (0 <= _left <= 1 / 16)%R).
  { split; [apply down_positive; lra |]. assert (B := down_below (-52) _any_left). lra. }
  assert (T : (0 <= _S <= 0.0434)%R) by (rewrite L; split; nra).
  assert (R1 : (0 <= _Rest <= 1 / 2^58)%R).
  { assert (Z := series _S T). constants.
    match type of Z with (0 <= ?x <= _)%R => set (z := x) in * end.
    replace _Rest with (share * (_Quarter * _Sixteenth) * z)%R by (rewrite R; unfold z; ring).
    clear - Z Q1 S1 P.
    assert (B : (0 <= _Quarter * _Sixteenth <= 1)%R) by nra.
    assert (A : (0 <= share * (_Quarter * _Sixteenth) <= 1)%R) by nra. nra. }
  clear R T X0 EQ ES. rewrite <- L in C. opened.
Qed.
