/** Facts that a text states with a label: `Name: Ada`, `total = 12`, `the invoice number is A-17`. */
export function labelledFacts(text: string): Map<string, string> {
  const facts = new Map<string, string>()
  const add = (label: string, value: string) => {
    const key = normalLabel(label)
    const stated = value.trim().replace(/[.,;]$/, '')
    if (key && stated && !facts.has(key)) facts.set(key, stated)
  }
  for (const line of text.split(/\n|(?<=[.;])\s+|,\s+(?=[\w ]{2,30}:\s)/)) {
    const marked = /^[\s*-]*([\p{L}][\p{L}\p{N} _/-]{0,40}?)(?:(?<!\s)\s+)?[:=]\s*(\S.*)$/u.exec(line)
    if (marked) add(marked[1]!, marked[2]!)
  }
  for (const [, label, value] of text.matchAll(
    /\b(?:my|the|our|his|her|their|its)\s+([\p{L}][\p{L} ]{1,30}?)\s+(?:is|was|are)\s+((?:[^.,;\n]|[.,](?=\S))+)/giu,
  )) {
    add(label!, value!)
  }
  return facts
}

/** Gives `Invoice number`, `invoice_number` and `invoiceNumber` the same form. */
const normalLabel = (label: string): string =>
  label
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

/** The value of a label, or of one that ends in it (`customer name` for `name`) or the reverse; else undefined. */
export function factFor(label: string, facts: ReadonlyMap<string, string>): string | undefined {
  const key = normalLabel(label)
  const exact = facts.get(key)
  if (exact !== undefined) return exact
  for (const [known, value] of facts) if (known.endsWith(` ${key}`) || key.endsWith(` ${known}`)) return value
  return undefined
}
