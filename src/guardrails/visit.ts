/** Told of every name, text and number of a value of JSON, in the order in which they stand. */
export type Visitor = { name(name: string): void; leaf(leaf: string | number): void }

export function visit(value: unknown, visitor: Visitor): void {
  if (typeof value === 'string' || typeof value === 'number') visitor.leaf(value)
  else if (Array.isArray(value)) for (const one of value) visit(one, visitor)
  else if (value !== null && typeof value === 'object') {
    for (const [name, member] of Object.entries(value)) {
      visitor.name(name)
      visit(member, visitor)
    }
  }
}
