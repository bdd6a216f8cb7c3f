(* The laws, and lemmas 1 and 4 of PROOF.md for all of them.

   An integer x of a law with centre mu is c + y, c = floor(mu + 1/2), f = mu - c = k/d; r is its distance abs(y - f).
   weight y = exp(-phi(r)), and g y = weight y / weight 0, as the tables have it.
   What is used of phi: phi(0) = 0, phi >= 0, and a rising tangent at every r > 0 below phi: so phi is convex and grows. *)
From Coq Require Import Reals Lra Lia ZArith Bool.
From Coquelicot Require Import Coquelicot.
From DG.cells Require Import compare.
Open Scope R_scope.

(* the parameter is s/u: sigma2 of the Gaussian, else the scale; the exponent of Power is bn/bd *)
Inductive shape := Gaussian | Laplace | Power (bn bd : Z).
Record law := { kind : shape; s : Z; u : Z; k : Z; d : Z }.

Definition valid (l : law) : bool :=
  ((1 <=? s l) && (1 <=? u l) && (1 <=? d l) && (2 * Z.abs (k l) <=? d l) &&
   match kind l with Power bn bd => (1 <=? bd) && (bd <=? bn) | _ => true end)%Z.

(* x^b, x >= 0 *)
Definition power (x b : R) : R := if Rle_dec x 0 then 0 else exp (b * ln x).

Definition phi (l : law) (r : R) : R :=
  match kind l with
  | Gaussian => r ^ 2 / (2 * (IZR (s l) / IZR (u l)))
  | Laplace => r / (IZR (s l) / IZR (u l))
  | Power bn bd => power (r / (IZR (s l) / IZR (u l))) (IZR bn / IZR bd)
  end.

Lemma exp_le x y : x <= y -> exp x <= exp y.
Proof. intros [H|H]; [left; now apply exp_increasing | rewrite H; lra]. Qed.

(* Bernoulli's inequality for real exponents *)
Lemma exp_convex b x : 1 <= b -> 1 + b * (exp x - 1) <= exp (b * x).
Proof.
  intros Hb. pose proof (exp_pos x) as Hx.
  pose proof (exp_ineq1_le (b * x - x)) as H1. pose proof (exp_ineq1_le (- x)) as H2.
  assert (E1 : exp (b * x) = exp x * exp (b * x - x)) by (rewrite <- exp_plus; f_equal; ring).
  assert (E2 : 1 = exp x * exp (- x)) by (rewrite <- exp_plus, Rplus_opp_r, exp_0; reflexivity).
  assert (exp x * (1 + (b * x - x)) <= exp (b * x)) by (rewrite E1; apply Rmult_le_compat_l; lra).
  assert (exp x * (1 + - x) <= 1) by (rewrite E2 at 2; apply Rmult_le_compat_l; lra).
  nra.
Qed.

Lemma power_tangent b x y : 1 <= b -> 0 < x -> 0 <= y -> power x b + b * power x b / x * (y - x) <= power y b.
Proof.
  intros Hb Hx Hy. unfold power. destruct (Rle_dec x 0); [lra|].
  assert (Hp : 0 < exp (b * ln x)) by apply exp_pos. set (p := exp (b * ln x)) in *.
  destruct (Rle_dec y 0) as [H0|H0].
  - replace y with 0 by lra. replace (p + b * p / x * (0 - x)) with (p * (1 - b)) by (field; lra). nra.
  - pose proof (exp_convex b (ln (y / x)) Hb) as H. rewrite exp_ln in H by (apply Rdiv_lt_0_compat; lra).
    replace (exp (b * ln y)) with (p * exp (b * ln (y / x))).
    + replace (p + b * p / x * (y - x)) with (p * (1 + b * (y / x - 1))) by (field; lra).
      apply Rmult_le_compat_l; lra.
    + unfold p. rewrite <- exp_plus. f_equal. unfold Rdiv. rewrite ln_mult, ln_Rinv by (try apply Rinv_0_lt_compat; lra).
      ring.
Qed.

Section Law.
  Variable l : law.
  Hypothesis ok : valid l = true.

  Lemma valid_is : (1 <= s l)%Z /\ (1 <= u l)%Z /\ (1 <= d l)%Z /\ (2 * Z.abs (k l) <= d l)%Z /\
    match kind l with Power bn bd => (1 <= bd <= bn)%Z | _ => True end.
  Proof.
    pose proof ok as H. unfold valid in H. rewrite !Bool.andb_true_iff, !Z.leb_le in H.
    destruct H as [[[[H1 H2] H3] H4] H5]. repeat split; try assumption. destruct (kind l) as [| |bn bd]; [exact I | exact I|].
    apply Bool.andb_true_iff in H5 as [H5 H6]. split; now apply Z.leb_le.
  Qed.

  Lemma scale_pos : 0 < IZR (s l) / IZR (u l).
  Proof. destruct valid_is as (Hs & Hu & _). apply Rdiv_lt_0_compat; apply IZR_lt; lia. Qed.

  Lemma tangent x : 0 < x -> exists p, 0 <= p /\ forall y, 0 <= y -> phi l x + p * (y - x) <= phi l y.
  Proof.
    intros Hx. pose proof scale_pos as Hs. destruct valid_is as (_ & _ & _ & _ & Hb). unfold phi. set (c := IZR (s l) / IZR (u l)) in *.
    destruct (kind l) as [| |bn bd].
    - exists (x / c). split; [apply Rlt_le, Rdiv_lt_0_compat; lra|]. intros y _.
      assert (0 <= (y - x) ^ 2 / (2 * c)) by (apply Rdiv_le_0_compat; [apply pow2_ge_0 | lra]).
      replace (y ^ 2 / (2 * c)) with (x ^ 2 / (2 * c) + x / c * (y - x) + (y - x) ^ 2 / (2 * c)) by (field; lra). lra.
    - exists (/ c). split; [apply Rlt_le, Rinv_0_lt_compat; lra|]. intros y _. right. field. lra.
    - assert (Hb1 : 1 <= IZR bn / IZR bd).
      { apply Rle_div_r; [apply IZR_lt; lia|]. rewrite Rmult_1_l. apply IZR_le. lia. }
      set (b := IZR bn / IZR bd) in *. assert (Hxc : 0 < x / c) by (apply Rdiv_lt_0_compat; lra).
      exists (b * power (x / c) b / (x / c) / c). split.
      + assert (0 < power (x / c) b) by (unfold power; destruct (Rle_dec (x / c) 0); [lra | apply exp_pos]).
        apply Rlt_le, Rdiv_lt_0_compat; [|lra]. apply Rdiv_lt_0_compat; [|lra]. apply Rmult_lt_0_compat; lra.
      + intros y Hy. assert (Hyc : 0 <= y / c) by (apply Rdiv_le_0_compat; lra).
        pose proof (power_tangent b (x / c) (y / c) Hb1 Hxc Hyc) as H.
        replace (b * power (x / c) b / (x / c) / c * (y - x)) with (b * power (x / c) b / (x / c) * (y / c - x / c))
          by (field; lra). exact H.
  Qed.

  Lemma phi_zero : phi l 0 = 0.
  Proof.
    pose proof scale_pos as Hs. unfold phi. set (c := IZR (s l) / IZR (u l)) in *. destruct (kind l); [field; lra | field; lra|].
    unfold power. destruct (Rle_dec _ 0) as [|H]; [reflexivity|]. exfalso. apply H. right. field. lra.
  Qed.
  Lemma phi_nonneg r : 0 <= r -> 0 <= phi l r.
  Proof.
    intros Hr. pose proof scale_pos as Hs. unfold phi. destruct (kind l).
    - apply Rdiv_le_0_compat; [apply pow2_ge_0 | lra].
    - apply Rdiv_le_0_compat; lra.
    - unfold power. destruct (Rle_dec _ 0); [lra | left; apply exp_pos].
  Qed.

  Lemma phi_grows x y : 0 <= x <= y -> phi l x <= phi l y.
  Proof.
    intros H. destruct (Rle_lt_or_eq_dec 0 x ltac:(lra)) as [Hx|<-].
    - destruct (tangent x Hx) as (p & Hp & Ht). specialize (Ht y ltac:(lra)). nra.
    - rewrite phi_zero. apply phi_nonneg. lra.
  Qed.

  (* convex: i steps of W gain at least i times what the first one does *)
  Lemma phi_convex x W i : 0 <= x -> 0 < W -> phi l x + INR i * (phi l (x + W) - phi l x) <= phi l (x + INR i * W).
  Proof.
    intros Hx HW. destruct i as [|i].
    - simpl. rewrite !Rmult_0_l, !Rplus_0_r. lra.
    - destruct (tangent (x + W) ltac:(lra)) as (p & Hp & Ht). pose proof (pos_INR i) as Hi.
      pose proof (Ht x Hx) as H0. rewrite S_INR.
      assert (0 <= (INR i + 1) * W) by nra. pose proof (Ht (x + (INR i + 1) * W) ltac:(lra)) as H1. nra.
  Qed.

  (* ---- on the integers ---- *)
  Definition dist (y : Z) : Z := Z.abs (y * d l - k l).
  Definition r (y : Z) : R := Rabs (IZR y - IZR (k l) / IZR (d l)).
  Definition weight (y : Z) : R := exp (- phi l (r y)).
  Definition g (y : Z) : R := exp (- (phi l (r y) - phi l (r 0))).

  Lemma d_pos : 0 < IZR (d l). Proof. destruct valid_is as (_ & _ & H & _). apply IZR_lt. lia. Qed.
  Lemma r_is y : r y = IZR (dist y) / IZR (d l).
  Proof.
    pose proof d_pos. unfold r, dist. rewrite abs_IZR, minus_IZR, mult_IZR.
    replace (IZR y - IZR (k l) / IZR (d l)) with ((IZR y * IZR (d l) - IZR (k l)) / IZR (d l)) by (field; lra).
    unfold Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ _)) by (apply Rlt_le, Rinv_0_lt_compat; lra). reflexivity.
  Qed.
  Lemma r_nonneg y : 0 <= r y. Proof. apply Rabs_pos. Qed.
  Lemma r_le x y : (dist x <= dist y)%Z -> r x <= r y.
  Proof.
    intros H. rewrite !r_is. apply IZR_le in H. pose proof d_pos. unfold Rdiv.
    apply Rmult_le_compat_r; [apply Rlt_le, Rinv_0_lt_compat; lra | exact H].
  Qed.
  Lemma g_pos y : 0 < g y. Proof. apply exp_pos. Qed.
  Lemma g_weight y : g y = weight y / weight 0.
  Proof.
    unfold g, weight. replace (- (phi l (r y) - phi l (r 0))) with (- phi l (r y) + - - phi l (r 0)) by ring.
    rewrite exp_plus, (exp_Ropp (- phi l (r 0))). reflexivity.
  Qed.

  (* lemma 1 *)
  Lemma g_falls x y : (dist x <= dist y)%Z -> g y <= g x.
  Proof.
    intros H. apply exp_le. pose proof (phi_grows (r x) (r y) (conj (r_nonneg x) (r_le x y H))). lra.
  Qed.
  Lemma dist_up x y : (0 <= x <= y)%Z -> (dist x <= dist y)%Z.
  Proof.
    intros H. destruct valid_is as (_ & _ & Hd & Hk & _). unfold dist.
    destruct (Z.eq_dec x y) as [->|Hn]; [lia|]. assert (x * d l + d l <= y * d l)%Z by nia. assert (0 <= x * d l)%Z by nia. lia.
  Qed.
  Lemma dist_down x y : (x <= y <= -1)%Z -> (dist y <= dist x)%Z.
  Proof.
    intros H. destruct valid_is as (_ & _ & Hd & Hk & _). unfold dist.
    destruct (Z.eq_dec x y) as [->|Hn]; [lia|]. assert (x * d l + d l <= y * d l)%Z by nia. assert (y * d l <= - d l)%Z by nia. lia.
  Qed.
  Lemma g_at_most_one y : g y <= 1.
  Proof.
    apply Rle_trans with (g 0).
    - apply g_falls. destruct (Z.leb_spec 0 y).
      + apply dist_up. lia.
      + apply Z.le_trans with (dist (-1)); [|apply dist_down; lia].
        destruct valid_is as (_ & _ & Hd & Hk & _). unfold dist. lia.
    - unfold g. rewrite Rminus_eq_0, Ropp_0, exp_0. lra.
  Qed.
  Lemma g_one y : dist y = dist 0 -> g y = 1.
  Proof. intros H. unfold g. rewrite !r_is, H, Rminus_eq_0, Ropp_0. apply exp_0. Qed.

  (* lemma 4, at the i-th tail block's first integer *)
  Lemma r_steps y step j : (1 <= y /\ 0 < step \/ y <= -1 /\ step < 0)%Z ->
    r (y + Z.of_nat j * step) = r y + INR j * IZR (Z.abs step).
  Proof.
    intros Hside. pose proof d_pos as Hd. destruct valid_is as (_ & _ & Hd1 & Hk & _). rewrite !r_is.
    replace (dist (y + Z.of_nat j * step)) with (dist y + Z.of_nat j * Z.abs step * d l)%Z.
    - rewrite plus_IZR, !mult_IZR, <- INR_IZR_INZ. field. lra.
    - unfold dist. replace ((y + Z.of_nat j * step) * d l)%Z with (y * d l + Z.of_nat j * step * d l)%Z by ring.
      destruct Hside as [[Hy Hst]|[Hy Hst]].
      + assert (d l <= y * d l)%Z by nia. assert (0 <= Z.of_nat j * step * d l)%Z by nia.
        rewrite (Z.abs_eq step) by lia. lia.
      + assert (y * d l <= - d l)%Z by nia. assert (Z.of_nat j * step * d l <= 0)%Z by nia.
        rewrite (Z.abs_neq step) by lia. replace (Z.of_nat j * - step * d l)%Z with (- (Z.of_nat j * step * d l))%Z by ring. lia.
  Qed.

  Lemma tail_halves (H : R) y step i : 0 < H -> (1 <= y /\ 0 < step \/ y <= -1 /\ step < 0)%Z ->
    H * g y <= 1 -> exp (- (phi l (r (y + step)) - phi l (r y))) <= / 2 ->
    2 ^ i * (H * g (y + Z.of_nat i * step)) <= 1.
  Proof.
    intros HH Hside H0 H1. pose proof (r_steps y step 1 Hside) as Hr1. pose proof (r_steps y step i Hside) as Hri.
    simpl INR in Hr1. rewrite Rmult_1_l in Hr1. replace (y + Z.of_nat 1 * step)%Z with (y + step)%Z in Hr1 by lia.
    assert (HW : 0 < IZR (Z.abs step)) by (apply IZR_lt; lia).
    pose proof (phi_convex (r y) _ i (r_nonneg y) HW) as Hc. rewrite <- Hr1, <- Hri in Hc.
    set (q := exp (- (phi l (r (y + step)) - phi l (r y)))) in *. assert (Hq : 0 < q) by apply exp_pos.
    assert (Hg : g (y + Z.of_nat i * step) <= q ^ i * g y).
    { unfold q, g. rewrite <- (Rpower_pow i) by apply exp_pos. unfold Rpower. rewrite ln_exp, <- exp_plus. apply exp_le. lra. }
    pose proof (g_pos y) as Hgy. pose proof (two_pow i) as H2.
    apply Rle_trans with ((2 * q) ^ i * (H * g y)).
    - rewrite Rpow_mult_distr. replace (2 ^ i * q ^ i * (H * g y)) with (2 ^ i * (H * (q ^ i * g y))) by ring.
      apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_l; lra.
    - assert ((2 * q) ^ i <= 1 ^ i) by (apply pow_incr; lra). rewrite pow1 in *.
      assert (0 <= (2 * q) ^ i) by (apply pow_le; lra). assert (0 < H * g y) by (apply Rmult_lt_0_compat; lra). nra.
  Qed.
End Law.
