import type { Skill } from './question'

type Language = 'python' | 'javascript' | 'typescript' | 'go'

const LANGUAGES: [RegExp, Language][] = [
  [/\btypescript\b|\bts\b/i, 'typescript'],
  [/\bjavascript\b|\bjs\b|\bnode(?:\.js)?\b/i, 'javascript'],
  [/\bgolang\b|\bin go\b|\bgo (?:function|program)\b/i, 'go'],
  [/\bpython\b|\bpy\b/i, 'python'],
]

const ONLY_AN_OUTLINE =
  'Only the outline: its body has to be written, and no language model that could do so is connected to this server.'

/** In `code` mode, the outline of a function that the prompt names or describes; it says that its body is missing. */
export const code: Skill = ({ mode, prompt }) => {
  if (mode !== 'code') return null
  const name = nameOf(prompt)
  if (!name) return null
  const language = LANGUAGES.find(([named]) => named.test(prompt))?.[1] ?? 'python'
  return `${fenced(language, skeleton(language, name))}\n\n${ONLY_AN_OUTLINE}`
}

const fenced = (language: Language, text: string): string => `\`\`\`${language}\n${text}\n\`\`\``

/** `a function called parse_row`, `a function that parses rows` → a name for it. */
function nameOf(prompt: string): string[] | null {
  const named = /\b(?:function|method)\s+(?:called|named)\s+`?([A-Za-z_]\w*)/i.exec(prompt)
  if (named)
    return named[1]!
      .replace(/([a-z])([A-Z])/g, '$1_$2')
      .toLowerCase()
      .split('_')
      .filter(Boolean)
  const described = /\b(?:function|method|script|program)\s+(?:that|which|to)\s+((?:(?!in\b)[\p{L}]+\s*){1,4})/iu.exec(
    prompt,
  )
  const words = described?.[1]
    ?.toLowerCase()
    .match(/[a-z]+/g)
    ?.filter((word) => !/^(?:a|an|the|of|to|and|all|my)$/.test(word))
  return words?.length ? words.slice(0, 3) : null
}

function skeleton(language: Language, name: string[]): string {
  const camel = name.map((word, at) => (at ? word[0]!.toUpperCase() + word.slice(1) : word)).join('')
  switch (language) {
    case 'python':
      return `def ${name.join('_')}(value):\n    raise NotImplementedError("${name.join(' ')}")`
    case 'javascript':
      return `export function ${camel}(value) {\n  throw new Error('${name.join(' ')} is not written yet')\n}`
    case 'typescript':
      return `export function ${camel}(value: unknown): never {\n  throw new Error('${name.join(' ')} is not written yet')\n}`
    case 'go':
      return `func ${camel}(value any) error {\n\treturn errors.New("${name.join(' ')} is not written yet")\n}`
  }
}
