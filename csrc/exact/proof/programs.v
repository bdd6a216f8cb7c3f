(* Programs that read fair bits, and the probabilities of their results.

   A program is a possibly infinite binary tree. mass n t f is the expectation of f over the results that are
   reached within n steps: a finite sum of dyadic weights, which grows with n. E t f is its limit. So
   E t (fun _ => 1) = 1 says that the program ends almost surely, and E t (is y) is the probability of y.

   Proven: E of Ret, Flip, Tau, bind and loop; that it is linear and monotone; monotone convergence;
   that the order of independent reads does not matter; the law of "again until success" (PROOF.md, lemma 2);
   uniform numbers of b bits; the number of leading ones. *)
From Coq Require Import Reals Lra Lia ZArith List Bool Arith.
From Coquelicot Require Import Coquelicot.
Import ListNotations.
Open Scope R_scope.

CoInductive tree (A : Type) : Type :=
| Ret (a : A) | Flip (k : bool -> tree A) | Tau (t : tree A).
Arguments Ret {A}. Arguments Flip {A}. Arguments Tau {A}.

Fixpoint mass {A} (n : nat) (t : tree A) (f : A -> R) : R :=
  match n with
  | O => 0
  | S n => match t with
           | Ret a => f a
           | Flip k => (mass n (k true) f + mass n (k false) f) / 2
           | Tau t => mass n t f
           end
  end.

(* the functions that E is used with *)
Definition unit_f {A} (f : A -> R) := forall a, 0 <= f a <= 1.

Lemma mass_bounds {A} n : forall (t : tree A) f, unit_f f -> 0 <= mass n t f <= 1.
Proof.
  induction n as [|n IH]; intros t f Hf; simpl; [lra|].
  destruct t as [a|k|t]; [apply Hf | | apply IH, Hf].
  pose proof (IH (k true) f Hf). pose proof (IH (k false) f Hf). lra.
Qed.

Lemma mass_grows {A} n : forall (t : tree A) f, unit_f f -> mass n t f <= mass (S n) t f.
Proof.
  induction n as [|n IH]; intros t f Hf.
  - apply (mass_bounds 1 t f Hf).
  - change (mass (S n) t f) with (match t with Ret a => f a
      | Flip k => (mass n (k true) f + mass n (k false) f) / 2 | Tau t => mass n t f end).
    change (mass (S (S n)) t f) with (match t with Ret a => f a
      | Flip k => (mass (S n) (k true) f + mass (S n) (k false) f) / 2 | Tau t => mass (S n) t f end).
    destruct t as [a|k|t]; [lra | | apply IH, Hf].
    pose proof (IH (k true) f Hf). pose proof (IH (k false) f Hf). lra.
Qed.

Lemma mass_grows_le {A} n m (t : tree A) f : unit_f f -> (n <= m)%nat -> mass n t f <= mass m t f.
Proof. intros Hf. induction 1; [lra|]. pose proof (mass_grows m t f Hf). lra. Qed.

Lemma mass_ext {A} n : forall (t : tree A) f g, (forall a, f a = g a) -> mass n t f = mass n t g.
Proof.
  induction n as [|n IH]; intros t f g H; simpl; [reflexivity|].
  destruct t as [a|k|t]; [apply H | | apply IH, H]. now rewrite (IH _ f g H), (IH _ f g H).
Qed.

Lemma mass_mono {A} n : forall (t : tree A) f g, (forall a, f a <= g a) -> mass n t f <= mass n t g.
Proof.
  induction n as [|n IH]; intros t f g H; simpl; [lra|].
  destruct t as [a|k|t]; [apply H | | apply IH, H].
  pose proof (IH (k true) f g H). pose proof (IH (k false) f g H). lra.
Qed.

Lemma mass_lin {A} n : forall (t : tree A) f g a b,
  mass n t (fun x => a * f x + b * g x) = a * mass n t f + b * mass n t g.
Proof.
  induction n as [|n IH]; intros t f g a b; simpl; [ring|].
  destruct t as [x|k|t]; [reflexivity | | apply IH]. rewrite 2!IH. field.
Qed.

(* finite sums pass to the limit *)
Lemma mass_lim {A} n : forall (t : tree A) (fs : nat -> A -> R) (f : A -> R),
  (forall a, is_lim_seq (fun m => fs m a) (f a)) -> is_lim_seq (fun m => mass n t (fs m)) (mass n t f).
Proof.
  induction n as [|n IH]; intros t fs f H; simpl; [apply is_lim_seq_const|].
  destruct t as [a|k|t]; [apply H | | apply IH, H].
  apply (is_lim_seq_ext (fun m => /2 * (mass n (k true) (fs m) + mass n (k false) (fs m)))).
  { intros; field. }
  replace ((mass n (k true) f + mass n (k false) f) / 2)
    with (/2 * (mass n (k true) f + mass n (k false) f)) by field.
  apply (is_lim_seq_scal_l _ (/2) (Finite _)).
  apply is_lim_seq_plus'; apply IH, H.
Qed.

Definition E {A} (t : tree A) (f : A -> R) : R := real (Lim_seq (fun n => mass n t f)).

Lemma E_is {A} (t : tree A) f : unit_f f -> is_lim_seq (fun n => mass n t f) (E t f).
Proof.
  intros Hf. apply Lim_seq_correct'.
  apply ex_finite_lim_seq_incr with (M := 1).
  - intros n. apply mass_grows, Hf.
  - intros n. apply mass_bounds, Hf.
Qed.

Lemma E_unique {A} (t : tree A) f l : is_lim_seq (fun n => mass n t f) (Finite l) -> E t f = l.
Proof. intros H. unfold E. now rewrite (is_lim_seq_unique _ _ H). Qed.

Lemma E_least {A} (t : tree A) f M : unit_f f -> (forall n, mass n t f <= M) -> E t f <= M.
Proof.
  intros Hf H. apply (is_lim_seq_le _ (fun _ => M) (E t f) M H (E_is t f Hf)). apply is_lim_seq_const.
Qed.

Lemma E_above {A} n (t : tree A) f : unit_f f -> mass n t f <= E t f.
Proof.
  intros Hf. apply (is_lim_seq_incr_compare (fun n => mass n t f)); [apply E_is, Hf|].
  intros m. apply mass_grows, Hf.
Qed.

Lemma E_unit {A} (t : tree A) f : unit_f f -> 0 <= E t f <= 1.
Proof.
  intros Hf. split; [apply Rle_trans with (mass 0 t f); [simpl; lra | apply E_above, Hf]|].
  apply E_least; [exact Hf|]. intros; apply mass_bounds, Hf.
Qed.

Lemma E_ext {A} (t : tree A) f g : (forall a, f a = g a) -> E t f = E t g.
Proof. intros H. unfold E. f_equal. apply Lim_seq_ext. intros n. apply mass_ext, H. Qed.

Lemma E_mono {A} (t : tree A) f g : unit_f f -> unit_f g -> (forall a, f a <= g a) -> E t f <= E t g.
Proof.
  intros Hf Hg H. apply E_least; [exact Hf|]. intros n.
  apply Rle_trans with (mass n t g); [apply mass_mono, H | apply E_above, Hg].
Qed.

Lemma E_lin {A} (t : tree A) f g a b : unit_f f -> unit_f g ->
  E t (fun x => a * f x + b * g x) = a * E t f + b * E t g.
Proof.
  intros Hf Hg. apply E_unique.
  apply (is_lim_seq_ext (fun n => a * mass n t f + b * mass n t g)); [intros; now rewrite mass_lin|].
  apply is_lim_seq_plus'; apply (is_lim_seq_scal_l _ _ (Finite _)); now apply E_is.
Qed.

Lemma unit_zero {A} : unit_f (fun _ : A => 0). Proof. intros a; lra. Qed.
Lemma unit_one {A} : unit_f (fun _ : A => 1). Proof. intros a; lra. Qed.

Lemma E_zero {A} (t : tree A) : E t (fun _ => 0) = 0.
Proof.
  apply E_unique. apply (is_lim_seq_ext (fun _ => 0)); [|apply is_lim_seq_const].
  intros n; revert t. induction n as [|n IH]; intros t; simpl; [reflexivity|].
  destruct t as [a|k|t]; [reflexivity| |apply IH]. rewrite <- 2!IH. lra.
Qed.

Lemma E_scal {A} (t : tree A) f c : unit_f f -> E t (fun x => c * f x) = c * E t f.
Proof.
  intros Hf. rewrite (E_ext t _ (fun x => c * f x + 0 * 0)) by (intros; ring).
  rewrite (E_lin t f (fun _ => 0) c 0 Hf unit_zero). ring.
Qed.

Lemma E_Ret {A} (a : A) f : E (Ret a) f = f a.
Proof.
  apply E_unique. apply is_lim_seq_incr_1. simpl. apply is_lim_seq_const.
Qed.

Lemma E_Tau {A} (t : tree A) f : unit_f f -> E (Tau t) f = E t f.
Proof. intros Hf. apply E_unique. apply is_lim_seq_incr_1. simpl. apply E_is, Hf. Qed.

Lemma E_Flip {A} (k : bool -> tree A) f : unit_f f -> E (Flip k) f = (E (k true) f + E (k false) f) / 2.
Proof.
  intros Hf. apply E_unique. apply is_lim_seq_incr_1. simpl.
  apply (is_lim_seq_ext (fun n => /2 * mass n (k true) f + /2 * mass n (k false) f)); [intros; field|].
  replace ((E (k true) f + E (k false) f) / 2) with (/2 * E (k true) f + /2 * E (k false) f) by field.
  apply is_lim_seq_plus'; apply (is_lim_seq_scal_l _ _ (Finite _)); now apply E_is.
Qed.

CoFixpoint bind {A B} (t : tree A) (k : A -> tree B) : tree B :=
  match t with
  | Ret a => Tau (k a)
  | Flip c => Flip (fun b => bind (c b) k)
  | Tau t => Tau (bind t k)
  end.

Lemma mass_bind_le {A B} n : forall (t : tree A) (k : A -> tree B) f, unit_f f ->
  mass n (bind t k) f <= mass n t (fun a => E (k a) f).
Proof.
  induction n as [|n IH]; intros t k f Hf; simpl; [lra|].
  destruct t as [a|c|t]; [now apply E_above | | now apply IH].
  pose proof (IH (c true) k f Hf). pose proof (IH (c false) k f Hf). lra.
Qed.

Lemma mass_bind_ge {A B} m n : forall (t : tree A) (k : A -> tree B) f, unit_f f ->
  mass n t (fun a => mass m (k a) f) <= mass (n + m) (bind t k) f.
Proof.
  induction n as [|n IH]; intros t k f Hf; [apply mass_bounds, Hf|].
  simpl. destruct t as [a|c|t].
  - apply mass_grows_le; [exact Hf | lia].
  - pose proof (IH (c true) k f Hf). pose proof (IH (c false) k f Hf). lra.
  - now apply IH.
Qed.

Lemma unit_E {A B} (k : A -> tree B) f : unit_f f -> unit_f (fun a => E (k a) f).
Proof. intros Hf a. now apply E_unit. Qed.

(* programs compose by this *)
Theorem E_bind {A B} (t : tree A) (k : A -> tree B) f : unit_f f ->
  E (bind t k) f = E t (fun a => E (k a) f).
Proof.
  intros Hf. apply Rle_antisym.
  - apply E_least; [exact Hf|]. intros n. apply Rle_trans with (1 := mass_bind_le n t k f Hf).
    apply (E_above n t (fun a => E (k a) f)). now apply unit_E.
  - apply E_least; [now apply unit_E|]. intros n.
    refine (is_lim_seq_le (fun m => mass n t (fun a => mass m (k a) f)) (fun _ => E (bind t k) f)
              (mass n t (fun a => E (k a) f)) (E (bind t k) f) _ _ (is_lim_seq_const _)).
    + intros m. apply Rle_trans with (1 := mass_bind_ge m n t k f Hf). now apply E_above.
    + apply (mass_lim n t (fun m a => mass m (k a) f)). intros a. now apply E_is.
Qed.

(* monotone convergence, for growing functions *)
Theorem E_converges {A} (t : tree A) (fs : nat -> A -> R) (f : A -> R) :
  (forall m, unit_f (fs m)) -> unit_f f -> (forall m a, fs m a <= fs (S m) a) ->
  (forall a, is_lim_seq (fun m => fs m a) (f a)) -> is_lim_seq (fun m => E t (fs m)) (E t f).
Proof.
  intros Hu Hf Hg Hl.
  assert (Hle : forall m a, fs m a <= f a).
  { intros m a. apply (is_lim_seq_incr_compare (fun m => fs m a)); [apply Hl | intros; apply Hg]. }
  assert (H1 : ex_finite_lim_seq (fun m => E t (fs m))).
  { apply ex_finite_lim_seq_incr with (M := 1).
    - intros m. apply E_mono; auto.
    - intros m. now apply E_unit. }
  destruct H1 as [l H1]. replace (E t f) with l; [exact H1|]. apply Rle_antisym.
  - refine (is_lim_seq_le _ (fun _ => E t f) l (E t f) _ H1 (is_lim_seq_const _)).
    intros m. apply E_mono; auto.
  - apply E_least; [exact Hf|]. intros n.
    refine (is_lim_seq_le (fun m => mass n t (fs m)) (fun m => E t (fs m)) (mass n t f) l _ _ H1).
    + intros m. now apply E_above.
    + now apply mass_lim.
Qed.

(* The order of independent reads does not matter. *)
Lemma mass_swap {A B} n m : forall (t : tree A) (s : tree B) (f : A -> B -> R),
  mass n t (fun a => mass m s (f a)) = mass m s (fun b => mass n t (fun a => f a b)).
Proof.
  assert (H0 : forall m (s : tree B), mass m s (fun _ => 0) = 0).
  { clear. induction m as [|m IH]; intros s; simpl; [reflexivity|].
    destruct s as [b|k|s]; [reflexivity | rewrite !IH; lra | apply IH]. }
  induction n as [|n IH]; intros t s f; [symmetry; apply H0|].
  simpl. destruct t as [a|k|t]; [reflexivity | | apply IH]. rewrite !IH.
  rewrite (mass_ext m s (fun b => (mass n (k true) (fun a => f a b) + mass n (k false) (fun a => f a b)) / 2)
    (fun b => /2 * mass n (k true) (fun a => f a b) + /2 * mass n (k false) (fun a => f a b))) by (intros; field).
  rewrite mass_lin. field.
Qed.

Lemma E_swap_le {A B} (t : tree A) (s : tree B) (f : A -> B -> R) : (forall a, unit_f (f a)) ->
  E t (fun a => E s (f a)) <= E s (fun b => E t (fun a => f a b)).
Proof.
  intros Hf. assert (Hf' : forall b, unit_f (fun a => f a b)) by (intros b a; apply Hf).
  assert (Hs : unit_f (fun b => E t (fun a => f a b))) by (intros b; now apply E_unit).
  apply E_least; [intros a; now apply E_unit|]. intros n.
  refine (is_lim_seq_le (fun m => mass n t (fun a => mass m s (f a))) (fun _ => E s (fun b => E t (fun a => f a b)))
            (mass n t (fun a => E s (f a))) _ _ _ (is_lim_seq_const _)).
  - intros m. rewrite mass_swap. apply Rle_trans with (mass m s (fun b => E t (fun a => f a b))).
    + apply mass_mono. intros b. now apply E_above.
    + now apply E_above.
  - apply (mass_lim n t (fun m a => mass m s (f a))). intros a. now apply E_is.
Qed.

Theorem E_swap {A B} (t : tree A) (s : tree B) (f : A -> B -> R) : (forall a, unit_f (f a)) ->
  E t (fun a => E s (f a)) = E s (fun b => E t (fun a => f a b)).
Proof.
  intros Hf. apply Rle_antisym; [now apply E_swap_le|].
  apply (E_swap_le s t (fun b a => f a b)). intros b a. apply Hf.
Qed.

Lemma E_const {A} (t : tree A) c : 0 <= c <= 1 -> E t (fun _ => 1) = 1 -> E t (fun _ => c) = c.
Proof.
  intros Hc H. rewrite (E_ext t (fun _ => c) (fun _ => c * 1)) by (intros; ring).
  rewrite (E_scal t (fun _ => 1)) by apply unit_one. rewrite H. ring.
Qed.

(* a program that ends almost surely, followed by such programs *)
Lemma bind_ends {A B} (t : tree A) (k : A -> tree B) :
  E t (fun _ => 1) = 1 -> (forall a, E (k a) (fun _ => 1) = 1) -> E (bind t k) (fun _ => 1) = 1.
Proof.
  intros Ht Hk. rewrite E_bind by apply unit_one. rewrite (E_ext _ _ (fun _ => 1)); [exact Ht|]. exact Hk.
Qed.

(* ---- loops: a step returns where to continue (inl), or the result (inr) ---- *)
CoFixpoint loop_from {S A} (step : S -> tree (S + A)) (t : tree (S + A)) : tree A :=
  match t with
  | Ret (inr a) => Ret a
  | Ret (inl s) => Tau (loop_from step (step s))
  | Flip k => Flip (fun b => loop_from step (k b))
  | Tau t => Tau (loop_from step t)
  end.
Definition loop {S A} (step : S -> tree (S + A)) (s : S) : tree A := loop_from step (step s).

Definition go_on {S A} (step : S -> tree (S + A)) (f : A -> R) (r : S + A) : R :=
  match r with inr a => f a | inl s => E (loop step s) f end.
Lemma unit_go_on {S A} (step : S -> tree (S + A)) f : unit_f f -> unit_f (go_on step f).
Proof. intros Hf [s|a]; simpl; [now apply E_unit | apply Hf]. Qed.

Theorem E_loop {S A} (step : S -> tree (S + A)) s f : unit_f f -> E (loop step s) f = E (step s) (go_on step f).
Proof.
  intros Hf. pose proof (unit_go_on step f Hf) as Hn. unfold loop at 1. generalize (step s) as t0. intros t0.
  apply Rle_antisym.
  - apply E_least; [exact Hf|]. intros n.
    apply Rle_trans with (mass n t0 (go_on step f)); [|now apply E_above].
    revert t0. induction n as [|n IH]; intros t; simpl; [lra|].
    destruct t as [[r|a]|k|t]; simpl; [now apply (E_above n (loop step r)) | lra | | now apply IH].
    pose proof (IH (k true)). pose proof (IH (k false)). lra.
  - apply E_least; [exact Hn|]. intros n.
    pose (now := fun m (r : S + A) => match r with inr a => f a | inl r => mass m (loop step r) f end).
    assert (H : forall m, mass n t0 (now m) <= E (loop_from step t0) f).
    { intros m. apply Rle_trans with (mass (n + Datatypes.S m) (loop_from step t0) f); [|now apply E_above].
      revert t0. induction n as [|n IH]; intros t.
      - apply mass_bounds, Hf.
      - simpl. destruct t as [[r|a]|k|t]; simpl.
        + apply (mass_grows_le m (n + Datatypes.S m) (loop step r)); [exact Hf | lia].
        + lra.
        + pose proof (IH (k true)). pose proof (IH (k false)). lra.
        + apply IH. }
    refine (is_lim_seq_le (fun m => mass n t0 (now m)) (fun _ => E (loop_from step t0) f)
              (mass n t0 (go_on step f)) (E (loop_from step t0) f) H _ (is_lim_seq_const _)).
    apply mass_lim. intros [r|a]; simpl; [now apply E_is | apply is_lim_seq_const].
Qed.

(* ---- "again" until the attempt succeeds ---- *)
Definition once_more {A} (o : option A) : unit + A := match o with Some a => inr a | None => inl tt end.
Definition again {A} (attempt : tree (option A)) : tree A :=
  loop (fun _ : unit => bind attempt (fun o => Ret (once_more o))) tt.

Definition some {A} (f : A -> R) (o : option A) : R := match o with Some a => f a | None => 0 end.
Definition none {A} (o : option A) : R := match o with Some _ => 0 | None => 1 end.
Lemma unit_some {A} (f : A -> R) : unit_f f -> unit_f (some f).
Proof. intros H [a|]; simpl; [apply H | lra]. Qed.
Lemma unit_none {A} : unit_f (@none A). Proof. intros [a|]; simpl; lra. Qed.

(* lemma 2. The attempt ends almost surely and succeeds with a positive probability *)
Theorem again_law {A} (attempt : tree (option A)) f : unit_f f ->
  E attempt (fun _ => 1) = 1 -> 0 < E attempt (some (fun _ => 1)) ->
  E (again attempt) f = E attempt (some f) / E attempt (some (fun _ => 1)).
Proof.
  intros Hf H1 Hs. pose proof (unit_some f Hf) as Hsf.
  pose proof (@unit_none A) as Hno. pose proof (unit_some (fun _ : A => 1) unit_one) as Hso.
  assert (HN : E attempt none = 1 - E attempt (some (fun _ => 1))).
  { pose proof H1 as H2.
    rewrite (E_ext attempt (fun _ => 1) (fun o => 1 * some (fun _ => 1) o + 1 * none o)) in H2
      by (intros [a|]; simpl; ring).
    rewrite (E_lin attempt (some (fun _ => 1)) none 1 1 Hso Hno) in H2. lra. }
  set (x := E (again attempt) f).
  assert (Hx : x = E attempt (some f) + x * E attempt none).
  { unfold x at 1. unfold again. rewrite E_loop, E_bind by (exact Hf || now apply unit_go_on).
    rewrite (E_ext attempt _ (fun o => 1 * some f o + x * none o)).
    - rewrite (E_lin attempt (some f) none 1 x Hsf Hno). ring.
    - intros [a|]; rewrite E_Ret; simpl; [|fold (again attempt); fold x]; ring. }
  rewrite HN in Hx. apply Rmult_eq_reg_r with (E attempt (some (fun _ => 1))); [|lra].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.

Corollary again_ends {A} (attempt : tree (option A)) :
  E attempt (fun _ => 1) = 1 -> 0 < E attempt (some (fun _ => 1)) -> E (again attempt) (fun _ => 1) = 1.
Proof. intros H1 Hs. rewrite again_law by (auto using unit_one). field. lra. Qed.

(* ---- uniform bits ---- *)
Fixpoint number (b : nat) : tree Z :=
  match b with
  | O => Ret 0%Z
  | S b => bind (number b) (fun h => Flip (fun c => Ret (2 * h + if c then 1 else 0)%Z))
  end.

Definition zs (n : nat) : list Z := map Z.of_nat (seq 0 n).
(* the sum of f over a list *)
Fixpoint total {A} (f : A -> R) (l : list A) : R := match l with [] => 0 | a :: l => f a + total f l end.

Lemma total_app {A} (f : A -> R) l m : total f (l ++ m) = total f l + total f m.
Proof. induction l; simpl; lra. Qed.
Lemma total_ext {A} (f g : A -> R) l : (forall a, In a l -> f a = g a) -> total f l = total g l.
Proof. induction l as [|a l IH]; simpl; intros H; [reflexivity|]. rewrite (H a), IH; auto. Qed.
Lemma total_map {A B} (f : B -> R) (h : A -> B) l : total f (map h l) = total (fun a => f (h a)) l.
Proof. induction l; simpl; congruence. Qed.

Lemma zs_double n : forall f, total f (zs (2 * n)) =
  total (fun h => f (2 * h)%Z + f (2 * h + 1)%Z) (zs n).
Proof.
  intros f. unfold zs. induction n as [|n IH]; [reflexivity|].
  replace (2 * S n)%nat with (S (S (2 * n))) by lia.
  rewrite !seq_S, !map_app, !total_app, IH. cbn [map total].
  replace (Z.of_nat (0 + S (2 * n))) with (2 * Z.of_nat (0 + n) + 1)%Z by lia.
  replace (Z.of_nat (0 + 2 * n)) with (2 * Z.of_nat (0 + n))%Z by lia. lra.
Qed.

Lemma total_scal {A} (f : A -> R) c l : total (fun a => c * f a) l = c * total f l.
Proof. induction l; simpl; [ring | rewrite IHl; ring]. Qed.

Theorem number_law b : forall f, unit_f f -> E (number b) f = / 2 ^ b * total f (zs (2 ^ b)).
Proof.
  induction b as [|b IH]; intros f Hf.
  - simpl. rewrite E_Ret. simpl. field.
  - change (number (S b)) with
      (bind (number b) (fun h => Flip (fun c : bool => Ret (2 * h + if c then 1 else 0)%Z))).
    rewrite E_bind by exact Hf.
    rewrite (E_ext _ _ (fun h => /2 * (f (2 * h)%Z + f (2 * h + 1)%Z))).
    + rewrite IH.
      * change (2 ^ S b)%nat with (2 * 2 ^ b)%nat. rewrite zs_double, total_scal, <- tech_pow_Rmult.
        cbv beta. set (T := total _ _). field. apply pow_nonzero. lra.
      * intros h. pose proof (Hf (2 * h)%Z). pose proof (Hf (2 * h + 1)%Z). lra.
    + intros h. rewrite E_Flip by exact Hf. rewrite !E_Ret. cbv beta iota. rewrite Z.add_0_r.
      lra.
Qed.

Lemma zs_length n : total (fun _ => 1) (zs n) = INR n.
Proof.
  unfold zs. rewrite total_map. generalize 0%nat as s. induction n as [|n IH]; intros s; [reflexivity|].
  cbn [seq total]. rewrite IH, S_INR. lra.
Qed.

Theorem number_ends b : E (number b) (fun _ => 1) = 1.
Proof.
  rewrite number_law by apply unit_one. rewrite zs_length, pow_INR. simpl INR. apply Rinv_l, pow_nonzero. lra.
Qed.

(* a number of a + b bits is one of a bits, and then one of b *)
Theorem number_split a b f : unit_f f ->
  E (number (a + b)) f = E (number a) (fun h => E (number b) (fun l => f (h * 2 ^ Z.of_nat b + l)%Z)).
Proof.
  intros Hf. revert f Hf. induction b as [|b IH]; intros f Hf.
  - rewrite Nat.add_0_r. apply E_ext. intros h. change (number 0) with (@Ret Z 0%Z). rewrite E_Ret. f_equal. simpl. lia.
  - rewrite Nat.add_succ_r.
    change (number (S (a + b))) with
      (bind (number (a + b)) (fun h => Flip (fun c : bool => Ret (2 * h + if c then 1 else 0)%Z))).
    rewrite E_bind by exact Hf.
    rewrite (IH (fun h => E (Flip (fun c : bool => Ret (2 * h + (if c then 1 else 0))%Z)) f)) by (intros h; now apply E_unit).
    apply E_ext. intros h.
    change (number (S b)) with
      (bind (number b) (fun h => Flip (fun c : bool => Ret (2 * h + if c then 1 else 0)%Z))).
    rewrite E_bind by (intros l; apply Hf). apply E_ext. intros l.
    rewrite !E_Flip by (exact Hf || intros x; apply Hf). rewrite !E_Ret.
    rewrite Nat2Z.inj_succ, Z.pow_succ_r by lia.
    do 2 f_equal; f_equal; ring.
Qed.

(* ---- the level of a tail: how many one bits come before the first zero ---- *)
Definition level_step (i : nat) : tree (nat + nat) := Flip (fun one : bool => Ret (if one then inl (S i) else inr i)).
Definition level_from (i : nat) : tree nat := loop level_step i.
Definition at_nat (i j : nat) : R := if Nat.eqb i j then 1 else 0.
Lemma unit_at i : unit_f (at_nat i). Proof. intros j. unfold at_nat. destruct Nat.eqb; lra. Qed.

Lemma E_level i f : unit_f f -> E (level_from i) f = (E (level_from (S i)) f + f i) / 2.
Proof.
  intros Hf. unfold level_from at 1. rewrite E_loop by exact Hf. unfold level_step at 1.
  rewrite E_Flip by now apply unit_go_on. now rewrite !E_Ret.
Qed.

Lemma level_ends_by n : forall i, 1 - (/2) ^ n <= E (level_from i) (fun _ => 1).
Proof.
  induction n as [|n IH]; intros i; [simpl; pose proof (E_unit (level_from i) (fun _ => 1) unit_one); lra|].
  rewrite E_level by apply unit_one. pose proof (IH (S i)). simpl. lra.
Qed.

Theorem level_ends i : E (level_from i) (fun _ => 1) = 1.
Proof.
  apply Rle_antisym; [apply E_unit, unit_one|]. apply le_epsilon. intros e He.
  destruct (pow_lt_1_zero (/2) ltac:(rewrite Rabs_pos_eq; lra) e He) as [n Hn].
  specialize (Hn n (Nat.le_refl n)). rewrite Rabs_pos_eq in Hn by (apply pow_le; lra).
  pose proof (level_ends_by n i). lra.
Qed.

Lemma level_before i j : (j < i)%nat -> E (level_from i) (at_nat j) = 0.
Proof.
  intros H. apply Rle_antisym; [|apply E_unit, unit_at]. apply le_epsilon. intros e He. rewrite Rplus_0_l.
  destruct (pow_lt_1_zero (/2) ltac:(rewrite Rabs_pos_eq; lra) e He) as [n Hn].
  specialize (Hn n (Nat.le_refl n)). rewrite Rabs_pos_eq in Hn by (apply pow_le; lra).
  apply Rle_trans with ((/2) ^ n); [|lra]. clear Hn. revert i H. induction n as [|n IH]; intros i H.
  - simpl. apply E_unit, unit_at.
  - rewrite E_level by apply unit_at. pose proof (IH (S i) ltac:(lia)). unfold at_nat at 2.
    destruct (Nat.eqb_spec j i); [lia|]. simpl. lra.
Qed.

Theorem level_law d : forall i, E (level_from i) (at_nat (i + d)) = (/2) ^ S d.
Proof.
  induction d as [|d IH]; intros i; rewrite E_level by apply unit_at.
  - rewrite level_before by lia. unfold at_nat. rewrite Nat.add_0_r, Nat.eqb_refl. simpl. lra.
  - replace (i + S d)%nat with (S i + d)%nat by lia.
    rewrite IH. unfold at_nat. destruct (Nat.eqb_spec (S i + d) i); [lia|]. simpl. lra.
Qed.

(* ---- small lemmas ---- *)
Definition yes (c : bool) : R := if c then 1 else 0.
Lemma unit_yes : unit_f yes. Proof. intros [|]; simpl; lra. Qed.

Lemma zs_in n z : In z (zs n) -> (0 <= z < Z.of_nat n)%Z.
Proof. unfold zs. rewrite in_map_iff. intros (k & <- & H). apply in_seq in H. lia. Qed.
Lemma total_zero {A} (f : A -> R) l : (forall a, In a l -> f a = 0) -> total f l = 0.
Proof. induction l as [|a l IH]; simpl; intros H; [reflexivity|]. rewrite (H a), IH; auto; lra. Qed.

(* one integer among n consecutive ones *)
Lemma pick y a q n : total (fun l => if Z.eqb y (a + l) then q else 0) (zs n) =
  if (a <=? y)%Z && (y <? a + Z.of_nat n)%Z then q else 0.
Proof.
  unfold zs. induction n as [|n IH].
  - simpl. destruct (Z.leb_spec a y), (Z.ltb_spec y (a + 0)); simpl; (reflexivity || lia).
  - rewrite seq_S, map_app, total_app, IH. cbn [map total]. rewrite Nat.add_0_l.
    destruct (Z.leb_spec a y), (Z.ltb_spec y (a + Z.of_nat n)), (Z.ltb_spec y (a + Z.of_nat (S n))),
      (Z.eqb_spec y (a + Z.of_nat n)); simpl; (lia || lra).
Qed.
