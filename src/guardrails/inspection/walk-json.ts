export type JsonVisitor = { name(name: string): void; leaf(leaf: string | number): void }

/** Calls the visitor for every member name, text and number of a JSON value, in the order in which they stand. */
export function walkJson(value: unknown, visitor: JsonVisitor): void {
  if (typeof value === 'string' || typeof value === 'number') visitor.leaf(value)
  else if (Array.isArray(value)) for (const one of value) walkJson(one, visitor)
  else if (value !== null && typeof value === 'object') {
    for (const [name, member] of Object.entries(value)) {
      visitor.name(name)
      walkJson(member, visitor)
    }
  }
}
