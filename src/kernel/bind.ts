/** Verbs without their first argument, which they all share. */
export type Bound<V> = {
  [Name in keyof V]: V[Name] extends (deps: never, ...rest: infer Rest) => infer Result
    ? (...rest: Rest) => Result
    : never
}

/** Gives a module's verbs, exported functions that take what they need first, their `Deps` once for all callers. */
export const bind = <Deps, const V extends Record<string, (deps: Deps, ...rest: never[]) => unknown>>(
  deps: Deps,
  verbs: V,
): Bound<V> =>
  Object.fromEntries(
    Object.entries(verbs).map(([name, verb]) => [name, (...rest: never[]) => verb(deps, ...rest)]),
  ) as Bound<V>
