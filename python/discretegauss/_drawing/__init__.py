"""From a checked law to draws: the engine, the method, the filling of arrays."""
