(* A machine like x86-64 whose long long has 128 bits: Frama-C knows no __int128, and takes this for it. *)
let () =
  File.new_machdep "wide"
    { Machdeps.x86_64 with Cil_types.sizeof_longlong = 16; alignof_longlong = 16 }
