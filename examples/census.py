"""Release three tables that add up, of the same people, under one statement about a person."""

import pandas as pd

import discretegauss as dg

# A person has up to three homes, no two of them in one town.
person = dg.release.Person(records=3, distinct=["town"])
towns = pd.DataFrame(
    {
        "state": ["North", "North", "North", "South", "South"],
        "town": ["Aix", "Bex", "Cut", "Dax", "Eze"],
        "homes": [1204, 87, 0, 5530, 310],  # every town is listed, with 0 where there is no home
    }
)
states = towns.groupby("state", as_index=False)["homes"].sum()
nation = pd.DataFrame({"homes": [towns["homes"].sum()]})

plan = dg.release.Plan(
    person,
    {
        "nation": dg.release.Table(by=[], share="1/5"),
        "states": dg.release.Table(by=["state"], share="3/10"),
        "towns": dg.release.Table(by=["state", "town"], share="1/2"),
    },
    epsilon=1,
)
print(plan)  # prints the noise and its cost, and draws nothing

frames = {"nation": nation, "states": states, "towns": towns}
noisy = plan.add_noise(frames, columns="homes")  # a second call spends again
best = dg.estimate.consistent(list(noisy.values()), list(plan.laws.values()), "homes")
for name, frame in zip(noisy, best, strict=True):
    print(f"\n{name}, made to add up\n{frame.round(1).to_string(index=False)}")
