/** What stands in quotes, or after words that announce it. */
export function letteringIn(text: string): string[] {
  const quoted = [...text.matchAll(/["“«]([^"”»\n]{1,120})["”»]|(?<![\p{L}])'([^'\n]{2,120})'(?![\p{L}])/gu)].map(
    ([, one, two]) => (one ?? two)!.trim(),
  )
  if (quoted.length) return quoted.filter(Boolean).slice(0, 3)
  const said =
    /\b(?:that says|saying|reading|with the (?:text|words?|title|headline)|titled|called|named|for)(?:\s*:)?\s+((?:[A-Z0-9][\p{L}\p{N}&'.-]*)(?:\s+(?:[A-Z0-9][\p{L}\p{N}&'.-]*|of|the|and|&|for|in|on)){0,6})/u.exec(
      text,
    )
  return said ? [said[1]!.replace(/(?<!\s)\s+(?:of|the|and|&|for|in|on)$/, '').replace(/[.,;:]$/, '')] : []
}

export const stepsIn = (text: string): string[] =>
  /(?:->|→|=>)/.test(text)
    ? text
        .replace(/^[^:\n]{0,60}:\s*/, '')
        .split(/->|→|=>/)
        .map((step) =>
          step
            .trim()
            .replace(/^.*\b(?:diagram|flow ?chart|flow|process) (?:of|for|from|with)\s+/i, '')
            .replace(/[.\n].*$/s, '')
            .trim(),
        )
        .filter(Boolean)
        .slice(0, 6)
    : []

/** A short caption: the description without "draw me a picture of". */
export const captionOf = (prompt: string): string => {
  const bare = prompt
    .trim()
    .split(/[.\n]/)[0]!
    .replace(
      /^(?:please\s+)?(?:can you\s+)?(?:draw|make|create|generate|paint|design|show|render|illustrate|give)\s+(?:me\s+)?/i,
      '',
    )
    .replace(
      /^(?:an?|the)?\s*(?:image|picture|illustration|drawing|photo|photograph|painting|poster|logo|icon|banner)s?\s+(?:of|for|showing|with)\s+/i,
      '',
    )
    .trim()
  return bare.slice(0, 120) || 'Picture'
}
