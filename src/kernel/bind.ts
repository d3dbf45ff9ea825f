/** The verbs of a module without their common first argument. */
export type Bound<V> = {
  [Name in keyof V]: V[Name] extends (deps: never, ...rest: infer Rest) => infer Result
    ? (...rest: Rest) => Result
    : never
}

/** Binds a module's verbs to their first argument, the module's `Deps`, once for all callers. */
export const bind = <Deps, const V extends Record<string, (deps: Deps, ...rest: never[]) => unknown>>(
  deps: Deps,
  verbs: V,
): Bound<V> =>
  Object.fromEntries(
    Object.entries(verbs).map(([name, verb]) => [name, (...rest: never[]) => verb(deps, ...rest)]),
  ) as Bound<V>
