(* The shape of an arc's error (PROOF.md, lemma 13): phi' = beta phi/r, phi'' = beta (beta - 1) phi/r^2, so that g'' = g (phi'^2 - phi'');
   and a function with f'' >= -K stays below the higher of its ends by K (b - a)^2/8 at most. *)
From Coq Require Import Reals Lra Lia ZArith List Bool.
From Coquelicot Require Import Coquelicot.
From DG.cells Require Import compare law.
Open Scope R_scope.

(* ---- a bound from both ends and a second derivative ---- *)
Section Chord.
  Variables (f f1 f2 : R -> R) (a b : R).
  Hypothesis order : a < b.
  Hypothesis d1 : forall c, a <= c <= b -> derivable_pt_lim f c (f1 c).
  Hypothesis d2 : forall c, a <= c <= b -> derivable_pt_lim f1 c (f2 c).

  Lemma chord_above K : 0 <= K -> (forall c, a <= c <= b -> - K <= f2 c) ->
    forall x, a <= x <= b -> f x <= Rmax (f a) (f b) + K * ((b - a) * (b - a) / 8).
  Proof.
    intros HK H2 x Hx.
    assert (Hend : forall y, y = a \/ y = b -> f y <= Rmax (f a) (f b) + K * ((b - a) * (b - a) / 8)).
    { intros y Hy. assert (0 <= K * ((b - a) * (b - a) / 8)) by (apply Rmult_le_pos; nra).
      destruct Hy as [->| ->]; [pose proof (Rmax_l (f a) (f b)) | pose proof (Rmax_r (f a) (f b))]; lra. }
    destruct (Req_dec x a) as [Ha|Ha]; [apply Hend; now left|]. destruct (Req_dec x b) as [Hb|Hb]; [apply Hend; now right|].
    destruct (MVT_cor2 f f1 a x ltac:(lra)) as (c & Hc & Hc'); [intros c Hc; apply d1; lra|].
    destruct (MVT_cor2 f f1 x b ltac:(lra)) as (e & He & He'); [intros e He; apply d1; lra|].
    destruct (MVT_cor2 f1 f2 c e ltac:(lra)) as (z & Hz & Hz'); [intros z Hz; apply d2; lra|].
    pose proof (H2 z ltac:(lra)) as H3.
    (* f1 e - f1 c >= - K (e - c) >= - K (b - a): not sharp enough; so with f + K x^2/2 *)
    pose (h := fun x => f x + K / 2 * (x * x)). pose (h1 := fun x => f1 x + K * x).
    assert (D : forall c, a <= c <= b -> derivable_pt_lim h c (h1 c)).
    { intros w Hw. unfold h, h1. apply derivable_pt_lim_plus; [now apply d1|].
      replace (K * w) with (K / 2 * (1 * w + w * 1)) by field.
      apply (derivable_pt_lim_scal (fun x => x * x)). apply (derivable_pt_lim_mult (fun x => x) (fun x => x)); apply derivable_pt_lim_id. }
    assert (M : forall u w, a <= u < w /\ w <= b -> h1 u <= h1 w).
    { intros u w Hu. destruct (MVT_cor2 f1 f2 u w ltac:(lra)) as (v & Hv & Hv'); [intros v Hv; apply d2; lra|].
      pose proof (H2 v ltac:(lra)). unfold h1. nra. }
    clear c Hc Hc' e He He' z Hz Hz' H3.
    destruct (MVT_cor2 h h1 a x ltac:(lra)) as (c & Hc & Hc'); [intros c Hc; apply D; lra|].
    destruct (MVT_cor2 h h1 x b ltac:(lra)) as (e & He & He'); [intros e He; apply D; lra|].
    pose proof (M c e ltac:(lra)) as Hce.
    assert (Hch : h x * (b - a) <= h a * (b - x) + h b * (x - a)).
    { replace (h x * (b - a)) with (h x * (b - x) + h x * (x - a)) by ring.
      replace (h x) with (h a + h1 c * (x - a)) at 1 by lra. replace (h x) with (h b - h1 e * (b - x)) by lra.
      assert (h1 c * ((x - a) * (b - x)) <= h1 e * ((x - a) * (b - x))) by (apply Rmult_le_compat_r; nra). nra. }
    unfold h in Hch.
    assert (Hf : f x * (b - a) <= f a * (b - x) + f b * (x - a) + K / 2 * ((x - a) * (b - x) * (b - a))).
    { replace (K / 2 * ((x - a) * (b - x) * (b - a))) with
        (K / 2 * (a * a) * (b - x) + K / 2 * (b * b) * (x - a) - K / 2 * (x * x) * (b - a)) by field. lra. }
    pose proof (Rmax_l (f a) (f b)). pose proof (Rmax_r (f a) (f b)). set (m := Rmax (f a) (f b)) in *.
    assert (f a * (b - x) <= m * (b - x)) by (apply Rmult_le_compat_r; lra).
    assert (f b * (x - a) <= m * (x - a)) by (apply Rmult_le_compat_r; lra).
    assert (Hq : (x - a) * (b - x) <= (b - a) * (b - a) / 4).
    { assert (0 <= (x - a - (b - x)) * (x - a - (b - x))) by apply Rle_0_sqr. nra. }
    assert (K / 2 * ((x - a) * (b - x) * (b - a)) <= K / 2 * ((b - a) * (b - a) / 4 * (b - a))).
    { apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_r; lra. }
    apply Rmult_le_reg_r with (b - a); [lra|]. nra.
  Qed.
End Chord.

Lemma chord_below f f1 f2 a b : a < b -> (forall c, a <= c <= b -> derivable_pt_lim f c (f1 c)) ->
  (forall c, a <= c <= b -> derivable_pt_lim f1 c (f2 c)) -> forall K, 0 <= K -> (forall c, a <= c <= b -> f2 c <= K) ->
  forall x, a <= x <= b -> Rmin (f a) (f b) - K * ((b - a) * (b - a) / 8) <= f x.
Proof.
  intros Hab d1 d2 K HK H2 x Hx.
  pose proof (chord_above (fun x => - f x) (fun x => - f1 x) (fun x => - f2 x) a b Hab
    (fun c Hc => derivable_pt_lim_opp f c _ (d1 c Hc)) (fun c Hc => derivable_pt_lim_opp f1 c _ (d2 c Hc)) K HK
    ltac:(intros c Hc; pose proof (H2 c Hc); lra) x Hx) as H.
  cbv beta in H. rewrite <- Ropp_Rmin in H. lra.
Qed.

(* ---- g and its derivatives, r > 0 ---- *)
Section Shape.
  Variable l : law.
  Hypothesis ok : valid l = true.
  Definition beta_num : Z := match kind l with Gaussian => 2 | Laplace => 1 | Power bn bd => bn end.
  Definition beta_den : Z := match kind l with Power bn bd => bd | _ => 1 end.
  Definition beta : R := IZR beta_num / IZR beta_den.
  Lemma beta_is : (1 <= beta_den <= beta_num)%Z.
  Proof. destruct (valid_is l ok) as (_ & _ & _ & _ & H). unfold beta_den, beta_num. destruct (kind l); lia. Qed.
  Lemma beta_one : 1 <= beta.
  Proof. pose proof beta_is. unfold beta. apply Rle_div_r; [apply IZR_lt; lia|]. rewrite Rmult_1_l. apply IZR_le. lia. Qed.

  Definition phi1 (r : R) : R := beta * phi l r / r.
  Definition phi2 (r : R) : R := beta * (beta - 1) * phi l r / (r * r).

  Lemma phi_derives r : 0 < r -> derivable_pt_lim (phi l) r (phi1 r).
  Proof.
    intros Hr. pose proof (scale_pos l ok) as Hs. apply is_derive_Reals. unfold phi1, phi, beta, beta_num, beta_den.
    set (c := IZR (s l) / IZR (u l)) in *. destruct (kind l) as [| |bn bd].
    - replace (2 / 1 * (r ^ 2 / (2 * c)) / r) with (2 * r / (2 * c)) by (field; lra). auto_derive; [exact I | field; lra].
    - replace (1 / 1 * (r / c) / r) with (/ c) by (field; lra). auto_derive; [exact I | field; lra].
    - set (b := IZR bn / IZR bd). assert (Hrc : 0 < r / c) by (apply Rdiv_lt_0_compat; lra).
      apply (is_derive_ext_loc (fun x => exp (b * ln (x / c)))).
      + exists (mkposreal r Hr). intros y Hy. unfold ball in Hy. simpl in Hy. unfold AbsRing_ball, abs, minus, plus, opp in Hy. simpl in Hy.
        apply Rabs_def2 in Hy. unfold power. destruct (Rle_dec (y / c) 0) as [H|H]; [|reflexivity]. exfalso.
        assert (0 < y / c) by (apply Rdiv_lt_0_compat; lra). lra.
      + unfold power. destruct (Rle_dec (r / c) 0) as [H|H]; [lra|].
        auto_derive; [repeat split; [exact Hrc | lra] || exact Hrc|]. unfold Rdiv. field. lra.
  Qed.
  Lemma phi1_derives r : 0 < r -> derivable_pt_lim phi1 r (phi2 r).
  Proof.
    intros Hr. unfold phi1 at 1.
    replace (phi2 r) with (((beta * phi1 r) * r - 1 * (beta * phi l r)) / Rsqr r) by (unfold phi2, phi1, Rsqr; field; lra).
    apply (derivable_pt_lim_div (fun r => beta * phi l r) (fun r => r)).
    - apply (derivable_pt_lim_scal (phi l)). now apply phi_derives.
    - apply derivable_pt_lim_id.
    - lra.
  Qed.
  Lemma phi1_nonneg r : 0 < r -> 0 <= phi1 r.
  Proof. intros Hr. unfold phi1. pose proof beta_one. pose proof (phi_nonneg l ok r ltac:(lra)). apply Rdiv_le_0_compat; [apply Rmult_le_pos; lra | lra]. Qed.
  Lemma phi2_nonneg r : 0 < r -> 0 <= phi2 r.
  Proof.
    intros Hr. unfold phi2. pose proof beta_one. pose proof (phi_nonneg l ok r ltac:(lra)).
    apply Rdiv_le_0_compat; [apply Rmult_le_pos; [apply Rmult_le_pos|]; lra | nra].
  Qed.
  Lemma phi1_grows x y : 0 < x <= y -> phi1 x <= phi1 y.
  Proof.
    intros H. destruct (Req_dec x y) as [->|Hn]; [lra|].
    destruct (MVT_cor2 phi1 phi2 x y ltac:(lra)) as (c & Hc & Hc'); [intros c Hc; apply phi1_derives; lra|].
    pose proof (phi2_nonneg c ltac:(lra)). nra.
  Qed.

  (* G r = g at distance r *)
  Variable p0 : R.
  Definition G (r : R) : R := exp (- (phi l r - p0)).
  Lemma G_falls x y : 0 <= x <= y -> G y <= G x.
  Proof. intros H. apply exp_le. pose proof (phi_grows l ok x y H). lra. Qed.
  Lemma G_derives r : 0 < r -> derivable_pt_lim G r (- phi1 r * G r).
  Proof.
    intros Hr. unfold G. replace (- phi1 r * exp (- (phi l r - p0))) with (exp (- (phi l r - p0)) * (- (phi1 r - 0))) by ring.
    apply (derivable_pt_lim_comp (fun r => - (phi l r - p0)) exp).
    - apply (derivable_pt_lim_opp (fun r => phi l r - p0)). apply (derivable_pt_lim_minus (phi l) (fun _ => p0)).
      + now apply phi_derives.
      + apply derivable_pt_lim_const.
    - apply derivable_pt_lim_exp.
  Qed.
  Definition bend (r : R) : R := phi1 r * phi1 r - phi2 r.
  Lemma G1_derives r : 0 < r -> derivable_pt_lim (fun r => - phi1 r * G r) r (G r * bend r).
  Proof.
    intros Hr. replace (G r * bend r) with (- phi2 r * G r + - phi1 r * (- phi1 r * G r)) by (unfold bend; ring).
    apply (derivable_pt_lim_mult (fun r => - phi1 r) G).
    - apply (derivable_pt_lim_opp phi1). now apply phi1_derives.
    - now apply G_derives.
  Qed.
End Shape.
