(* Walker's rows (PROOF.md, lemma 2), to be read beside dg_silent_fill_rows (build_silent.c): c says how many positions
   each code gets of n rows of P positions. `walk` takes the two stacks, and what is left of each code, and makes one row
   a step.

   Proven: if what is left adds up to P for each code, and each code has some, then no stack is empty that should not be;
   every row becomes one of two pieces that are not empty; and each code gets what c says. *)
From Coq Require Import Lia ZArith List Bool Permutation.
Import ListNotations.
Open Scope Z_scope.

Fixpoint sum {A} (f : A -> Z) (l : list A) : Z := match l with [] => 0 | a :: l => f a + sum f l end.
Lemma sum_app {A} (f : A -> Z) l m : sum f (l ++ m) = sum f l + sum f m.
Proof. induction l; cbn [sum app]; lia. Qed.
Lemma sum_ext {A} (f g : A -> Z) l : (forall a, In a l -> f a = g a) -> sum f l = sum g l.
Proof. induction l as [|a l IH]; intros H; [reflexivity|]. cbn [sum]. rewrite (H a), IH; [reflexivity | intros; apply H; now right | now left]. Qed.
Lemma sum_map {A B} (h : A -> B) (f : B -> Z) l : sum f (map h l) = sum (fun a => f (h a)) l.
Proof. induction l; cbn [map sum]; congruence. Qed.
Lemma sum_perm {A} (f : A -> Z) l m : Permutation l m -> sum f l = sum f m.
Proof. induction 1; cbn [sum]; lia. Qed.
Lemma sum_least {A} (f : A -> Z) b l : (forall a, In a l -> b <= f a) -> b * Z.of_nat (length l) <= sum f l.
Proof. induction l as [|a l IH]; intros H; cbn [sum length]; [lia|]. pose proof (H a (or_introl eq_refl)). specialize (IH (fun x Hx => H x (or_intror Hx))). lia. Qed.

Section Walker.
  Variable P : Z.
  Hypothesis P_pos : 1 < P.

  Record row := { at_row : Z; end_of : Z; alias_of : Z }.
  Definition changed (left : Z -> Z) (i by_ : Z) (j : Z) : Z := if j =? i then left i - by_ else left j.

  (* the lists' heads are the tops of the stacks *)
  Fixpoint walk (steps : nat) (small large : list Z) (left : Z -> Z) : option (list row) :=
    match small, large, steps with
    | [], _, _ => Some (map (fun r => {| at_row := r; end_of := P - 1; alias_of := r |}) large)
    | r :: small, of :: large, S steps =>
        let left' := changed left of (P - left r) in
        option_map (cons {| at_row := r; end_of := left r; alias_of := of |})
          (if left' of <? P then walk steps (of :: small) large left' else walk steps small (of :: large) left')
    | _, _, _ => None
    end.

  (* the positions that a row gives to code i *)
  Definition gives (i : Z) (w : row) : Z :=
    (if at_row w =? i then end_of w else 0) + (if alias_of w =? i then P - end_of w else 0).
  Definition within (w : row) : Prop := 1 <= end_of w <= P - 1.

  Record sorted (small large : list Z) (left : Z -> Z) : Prop := {
    is_small : forall i, In i small -> 1 <= left i < P;
    is_large : forall i, In i large -> P <= left i;
    once : NoDup (small ++ large);
    adds_up : sum left (small ++ large) = P * Z.of_nat (length (small ++ large))
  }.

  Lemma sum_changed left i x l : NoDup l -> sum (changed left i x) l = sum left l - (if in_dec Z.eq_dec i l then x else 0).
  Proof.
    induction l as [|a l IH]; intros H; cbn [sum]; [destruct in_dec as [[]|]; lia|].
    inversion H as [|? ? Ha Hl]; subst. rewrite (IH Hl). unfold changed.
    destruct (Z.eqb_spec a i) as [->|Hn]; destruct (in_dec Z.eq_dec i l), (in_dec Z.eq_dec i _) as [Hi|Hi]; try contradiction; try lia.
    all: exfalso; (apply Hi; cbn; tauto) || (destruct Hi; congruence || contradiction).
  Qed.

  Lemma all_equal f l b : (forall i : Z, In i l -> b <= f i) -> sum f l = b * Z.of_nat (length l) -> forall i, In i l -> f i = b.
  Proof.
    induction l as [|a l IH]; intros H Hs i [].
    - subst a. cbn [sum length] in Hs. pose proof (H i (or_introl eq_refl)).
      pose proof (sum_least f b l (fun x Hx => H x (or_intror Hx))). lia.
    - cbn [sum length] in Hs. pose proof (H a (or_introl eq_refl)).
      pose proof (sum_least f b l (fun x Hx => H x (or_intror Hx))). apply IH; [intros; apply H; now right | lia | assumption].
  Qed.

  Theorem walk_right steps : forall small large left, sorted small large left -> (length (small ++ large) <= steps)%nat ->
    exists rows, walk steps small large left = Some rows /\ Permutation (map at_row rows) (small ++ large) /\
      (forall w, In w rows -> within w /\ In (alias_of w) (small ++ large)) /\
      forall i, sum (gives i) rows = if in_dec Z.eq_dec i (small ++ large) then left i else 0.
  Proof.
    induction steps as [|steps IH]; intros small large left [Hs Hl Hn Ha] Hsteps.
    { apply Nat.le_0_r, length_zero_iff_nil, app_eq_nil in Hsteps as [-> ->]. exists []. cbn. repeat split; intros; tauto || auto. }
    destruct small as [|r small].
    - (* rows that are left have P each *)
      cbn [app] in *. exists (map (fun r => {| at_row := r; end_of := P - 1; alias_of := r |}) large). repeat split.
      + rewrite map_map. cbn [at_row]. now rewrite map_id.
      + apply in_map_iff in H as (j & <- & Hj). cbn. lia.
      + apply in_map_iff in H as (j & <- & Hj). cbn. lia.
      + apply in_map_iff in H as (j & <- & Hj). exact Hj.
      + intros i. rewrite sum_map. unfold gives. cbn [at_row end_of alias_of].
        assert (Hp : forall l, NoDup l -> sum (fun j => (if j =? i then P - 1 else 0) + (if j =? i then P - (P - 1) else 0)) l =
          if in_dec Z.eq_dec i l then P else 0).
        { induction l as [|j l IHl]; intros Hd; cbn [sum]; [destruct in_dec as [[]|]; lia|]. inversion Hd as [|? ? Hj Hd']; subst.
          rewrite IHl by assumption. destruct (Z.eqb_spec j i) as [->|Hji]; destruct (in_dec Z.eq_dec i l), (in_dec Z.eq_dec i _) as [Hi|Hi];
            try contradiction; try lia; exfalso; (apply Hi; cbn; tauto) || (destruct Hi; congruence || contradiction). }
        rewrite (Hp large Hn). destruct in_dec as [Hi|]; [|reflexivity]. symmetry. now apply (all_equal left large).
    - destruct large as [|of large].
      { (* what is left would be less than P for each *)
        exfalso. rewrite app_nil_r in Ha. pose proof (sum_least (fun i => P - left i) 1 (r :: small)) as H1.
        assert (H2 : forall l, sum (fun i => P - left i) l = P * Z.of_nat (length l) - sum left l)
          by (induction l; cbn [sum length]; lia). rewrite H2, Ha in H1. cbn [length] in H1.
        specialize (H1 (fun i Hi => ltac:(pose proof (Hs i Hi); lia))). lia. }
      set (x := P - left r). set (left' := changed left of x).
      pose proof (Hs r (or_introl eq_refl)) as Hr. pose proof (Hl of (or_introl eq_refl)) as Hof.
      assert (Hd : NoDup (small ++ of :: large)) by (cbn [app] in Hn; now inversion Hn).
      assert (Hrn : ~ In r (small ++ of :: large)) by (cbn [app] in Hn; now inversion Hn).
      assert (Hon : ~ In of (small ++ large)) by (now apply NoDup_remove_2).
      assert (Hsum : sum left' (small ++ of :: large) = P * Z.of_nat (length (small ++ of :: large))).
      { unfold left'. rewrite sum_changed by exact Hd. destruct in_dec as [_|H]; [|exfalso; apply H, in_app_iff; cbn; tauto].
        cbn [app sum length] in Ha. unfold x. lia. }
      assert (Hleft : forall i, i <> of -> left' i = left i) by (intros i Hi; unfold left', changed; destruct (Z.eqb_spec i of); congruence).
      assert (Hleft_of : left' of = left of - x) by (unfold left', changed; now rewrite Z.eqb_refl).
      assert (Hmoved : Permutation ((of :: small) ++ large) (small ++ of :: large)) by apply Permutation_middle.
      assert (Hnext : exists small' large', Permutation (small' ++ large') (small ++ of :: large) /\ sorted small' large' left' /\
        walk (S steps) (r :: small) (of :: large) left =
          option_map (cons {| at_row := r; end_of := left r; alias_of := of |}) (walk steps small' large' left')).
      { cbn [walk]. fold x left'. destruct (Z.ltb_spec (left' of) P) as [Hlt|Hge].
        - exists (of :: small), large. split; [exact Hmoved|]. split; [|reflexivity]. split.
          + intros i [<-|Hi]; [unfold x in *; lia|]. rewrite Hleft; [apply Hs; now right | intros ->; apply Hon, in_app_iff; tauto].
          + intros i Hi. rewrite Hleft; [apply Hl; now right | intros ->; apply Hon, in_app_iff; tauto].
          + now apply (Permutation_NoDup (Permutation_sym Hmoved)).
          + now rewrite (sum_perm _ _ _ Hmoved), (Permutation_length Hmoved).
        - exists small, (of :: large). split; [reflexivity|]. split; [|reflexivity]. split; try assumption.
          + intros i Hi. rewrite Hleft; [apply Hs; now right | intros ->; apply Hon, in_app_iff; tauto].
          + intros i [<-|Hi]; [exact Hge|]. rewrite Hleft; [apply Hl; now right | intros ->; apply Hon, in_app_iff; tauto]. }
      destruct Hnext as (small' & large' & Hperm & Hsorted & ->).
      destruct (IH small' large' left' Hsorted) as (rows & -> & Hrows & Hin & Hgives).
      { rewrite (Permutation_length Hperm). cbn [app length] in Hsteps. lia. }
      exists ({| at_row := r; end_of := left r; alias_of := of |} :: rows). split; [reflexivity|]. split.
      { cbn [map at_row app]. apply perm_skip. now transitivity (small' ++ large'). }
      split.
      { intros w [<-|Hw]; cbn [end_of alias_of]; [split; [red; cbn; lia | right; apply in_app_iff; cbn; tauto]|].
        destruct (Hin w Hw) as [H1 H2]. split; [exact H1|]. right. now apply (Permutation_in _ Hperm). }
      intros i. cbn [sum]. rewrite Hgives. unfold gives at 1. cbn [at_row end_of alias_of]. fold x.
      assert (Hmem : In i (small' ++ large') <-> In i (small ++ of :: large))
        by (split; apply Permutation_in; [exact Hperm | now apply Permutation_sym]).
      destruct (Z.eqb_spec r i) as [->|Hri], (Z.eqb_spec of i) as [->|Hoi],
        (in_dec Z.eq_dec i (small' ++ large')) as [H1|H1], (in_dec Z.eq_dec i ((_ :: small) ++ _)) as [H2|H2];
        rewrite ?Hleft_of, ?Hleft by congruence; cbn [app In] in H2; rewrite ?Hmem in H1;
        try (unfold x; lia); exfalso; tauto || (destruct H2; [congruence | tauto]) || idtac.
      all: apply H1, in_app_iff; cbn; tauto.
  Qed.
End Walker.

(* 256 codes: stacks as the code fills them, and the rows by their numbers *)
Definition codes : list Z := map Z.of_nat (seq 0 256).
Definition POSITIONS : Z := 2 ^ 16.
Definition rows_of (c : Z -> Z) : option (list row) :=
  let pushed := rev codes in
  walk POSITIONS 256 (filter (fun i => c i <? POSITIONS) pushed) (filter (fun i => negb (c i <? POSITIONS)) pushed) c.
Definition row_at (rows : list row) (r : Z) : row :=
  hd {| at_row := r; end_of := 1; alias_of := r |} (filter (fun w => at_row w =? r) rows).

Lemma split_perm {A} (p : A -> bool) l : Permutation (filter p l ++ filter (fun a => negb (p a)) l) l.
Proof.
  induction l as [|a l IH]; [constructor|]. cbn [filter]. destruct (p a); cbn [negb app]; [now constructor|].
  transitivity (a :: filter p l ++ filter (fun a => negb (p a)) l); [apply Permutation_sym, Permutation_middle | now constructor].
Qed.

(* (R) of silent.h's attempt *)
Theorem rows_right c : (forall i, In i codes -> 1 <= c i) -> sum c codes = 2 ^ 24 ->
  exists rows, rows_of c = Some rows /\
    (forall r, In r codes -> 1 <= end_of (row_at rows r) <= POSITIONS - 1 /\ In (alias_of (row_at rows r)) codes) /\
    forall i, In i codes ->
      sum (fun r => (if r =? i then end_of (row_at rows r) else 0) +
                    (if alias_of (row_at rows r) =? i then POSITIONS - end_of (row_at rows r) else 0)) codes = c i.
Proof.
  intros Hc Hsum. set (p := fun i => c i <? POSITIONS). set (small := filter p (rev codes)).
  set (large := filter (fun i => negb (p i)) (rev codes)).
  assert (Hall : Permutation (small ++ large) codes).
  { transitivity (rev codes); [apply split_perm | apply Permutation_sym, Permutation_rev]. }
  assert (Hcodes : NoDup codes) by (apply FinFun.Injective_map_NoDup; [intros x y; apply Nat2Z.inj | apply seq_NoDup]).
  assert (Hlen : length (small ++ large) = 256%nat) by (rewrite (Permutation_length Hall); reflexivity).
  destruct (walk_right POSITIONS ltac:(reflexivity) 256 small large c) as (rows & Hrows & Hat & Hin & Hgives).
  - split.
    + intros i Hi. apply filter_In in Hi as [Hi Hp]. apply Z.ltb_lt in Hp. split; [|exact Hp]. apply Hc. now apply in_rev.
    + intros i Hi. apply filter_In in Hi as [Hi Hp]. apply negb_true_iff, Z.ltb_ge in Hp. exact Hp.
    + now apply (Permutation_NoDup (Permutation_sym Hall)).
    + rewrite (sum_perm c _ _ Hall), Hsum, Hlen. reflexivity.
  - rewrite Hlen. constructor.
  - exists rows. split; [exact Hrows|].
    assert (Hnames : Permutation (map at_row rows) codes) by (now transitivity (small ++ large)).
    assert (Hrow : forall l w, NoDup (map at_row l) -> In w l -> row_at l (at_row w) = w).
    { induction l as [|v l IH]; intros w Hd []; unfold row_at; cbn [filter map] in *; inversion Hd as [|? ? Hv Hd']; subst.
      - now rewrite Z.eqb_refl.
      - destruct (Z.eqb_spec (at_row v) (at_row w)) as [He|_]; [|now apply IH].
        exfalso. apply Hv. rewrite He. now apply in_map. }
    assert (Hd : NoDup (map at_row rows)) by (now apply (Permutation_NoDup (Permutation_sym Hnames))).
    split.
    + intros r Hr. apply (Permutation_in _ (Permutation_sym Hnames)), in_map_iff in Hr as (w & <- & Hw).
      rewrite (Hrow rows w Hd Hw). destruct (Hin w Hw) as [H1 H2]. split; [exact H1 | now apply (Permutation_in _ Hall)].
    + intros i Hi. rewrite <- (sum_perm _ _ _ Hnames), sum_map, (sum_ext _ (gives POSITIONS i)).
      * rewrite Hgives. destruct in_dec as [|Hn]; [reflexivity|]. exfalso. apply Hn. now apply (Permutation_in _ (Permutation_sym Hall)).
      * intros w Hw. now rewrite (Hrow rows w Hd Hw).
Qed.
