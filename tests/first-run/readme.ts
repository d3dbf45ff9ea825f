import { readdirSync, readFileSync } from 'node:fs'

/**
 * A fenced block of the README or of a page in `docs` that says `run=NAME`: what readers type, or save under that name.
 */
export type Block = { name: string; text: string }

export const README = readFileSync('README.md', 'utf8')

/** The marked blocks in the order of reading. */
export const BLOCKS: readonly Block[] = [
  ...(
    README + ['running', 'clients', 'guide'].map((page) => readFileSync(`docs/${page}.md`, 'utf8')).join('\n')
  ).matchAll(/^```\w+ run=(\S+)\n([\s\S]*?)^```$/gm),
].map(([, name, text]) => ({ name: name!, text: text! }))

/** A guide: what its reader types, what shows that it worked, and what that prints; `…` is anything. */
export type Guide = { file: string; typed: string; check: string; prints: string }

export const GUIDES: readonly Guide[] = readdirSync('docs/guides').map((file) => {
  const [does = '', checks = ''] = readFileSync(`docs/guides/${file}`, 'utf8').split('\n## Check that it worked\n')
  const blocks = (text: string, language: string) =>
    [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))]
      .map(([, block]) => block!)
      .join('')
  return { file, typed: blocks(does, 'sh'), check: blocks(checks, 'sh'), prints: blocks(checks, 'text') }
})

/** A line that the tour promises of a command, as a pattern: numbers and ids are any, gaps as wide as they like. */
export function tourLine(command: string): RegExp {
  const tour = readFileSync('docs/tour.md', 'utf8')
  const line = new RegExp(`^\\| \`\\./svc-admin ${command}[^|]*\\|[^|]*\\| \`(.+)\` \\|$`, 'm').exec(tour)?.[1]
  if (!line) throw new Error(`the tour has no ${command}`)
  const parts = line.split(/ {2,}/).map((part) =>
    part
      .split(/((?<=\b[a-z]+_)\w{12,}|[\d.]*\d)/)
      .map((piece, at) => (at % 2 === 0 ? RegExp.escape(piece) : /[a-z]/i.test(piece) ? '\\w+' : '[\\d.]+'))
      .join(''),
  )
  return new RegExp(parts.join(' {2,}'))
}

export function blockOf(name: string): string {
  const found = BLOCKS.find((block) => block.name === name)
  if (!found) throw new Error(`no page has a block run=${name}`)
  return found.text
}
