import { type Language, TEMPLATES } from './code-templates'
import type { Skill } from './question'

const LANGUAGES: [RegExp, Language][] = [
  [/\btypescript\b|\bts\b/i, 'typescript'],
  [/\bjavascript\b|\bjs\b|\bnode(?:\.js)?\b/i, 'javascript'],
  [/\bgolang\b|\bin go\b|\bgo (?:function|program)\b/i, 'go'],
  [/\bpython\b|\bpy\b/i, 'python'],
]

const NOT_A_MODEL = 'This comes from a fixed template: no language model is connected to this server.'

/** In `code` mode, a small program from a template, else an outline that says that its body is missing. */
export const code: Skill = ({ mode, prompt }) => {
  if (mode !== 'code') return null
  const language = LANGUAGES.find(([named]) => named.test(prompt))?.[1] ?? 'python'
  const template = TEMPLATES.find(({ asked }) => asked.test(prompt))
  const written = template?.code[language]
  if (template && written) return `${fenced(language, written)}\n\n${template.title} ${NOT_A_MODEL}`
  const name = nameOf(prompt)
  return name ? `${fenced(language, skeleton(language, name))}\n\n${EMPTY} ${NOT_A_MODEL}` : null
}

const EMPTY = 'Only the outline: its body has to be written.'

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
  const described = /\b(?:function|method|script|program)\s+(?:that|which|to)\s+((?:[\p{L}]+\s*){1,4})/iu.exec(prompt)
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
