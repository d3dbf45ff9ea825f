import { quoted } from '../../kernel/errors'
import { type InjectionFinding, scanForInjection } from '../../kernel/injection'
import type { SkillManifest } from '../manifest'
import type { Finding } from './check'
import { doubtsAbout } from './doubts'
import { type Piece, piecesOf } from './pieces'

/** A piece of a text of a manifest, and the member it stands in. */
export type Part = { path: string; piece: Piece }

/** Nothing in a manifest may command the engine beyond its skill, nor hide what it says. */
export const partsOf = (manifest: SkillManifest): Part[] =>
  textsOf(manifest).flatMap(([path, text]) => piecesOf(text).map((piece) => ({ path, piece })))

/** What one piece is refused or doubted for. */
export function scanPart({ path, piece }: Part): Finding[] {
  const found = scanForInjection(piece.text)
  return found.length ? found.map(told) : doubtsAbout(path, piece)

  function told({ severity, about, via, line: within, excerpt }: InjectionFinding): Finding {
    const how = via === 'plain' ? '' : ` (${via})`
    const line = piece.linesBefore + within
    const message = `"${path}" ${about}${how}: "${quoted(excerpt)}".`
    return { severity: severity === 'block' ? 'fail' : 'warn', path, line, message, excerpt }
  }
}

/** Enough of one member for whoever reads it. */
const MOST_FINDINGS = 20

/** Each finding once, where pieces overlap too, and of each member the first of them. */
export function together(findings: readonly Finding[]): Finding[] {
  const byPath = Map.groupBy(findings, ({ path }) => path)
  return [...byPath.values()].flatMap((some) => {
    const distinct = new Map(some.map((one) => [`${one.line} ${one.message}`, one]))
    return [...distinct.values()].slice(0, MOST_FINDINGS)
  })
}

/** Every text of a manifest that an engine or a reviewer may come to read. */
function textsOf(manifest: SkillManifest): [path: string, text: string][] {
  const { tools, knowledge, knowledgeFiles, keywords, hooks, trigger } = manifest
  const texts: [string, string | null | undefined][] = [
    ['systemPromptExtension', manifest.systemPromptExtension],
    ['name', manifest.name],
    ['description', manifest.description],
    ...tools.flatMap((tool, at): [string, string][] => [
      [`tools[${at}].name`, tool.name.replaceAll('_', ' ')],
      [`tools[${at}].description`, tool.description],
      [`tools[${at}].inputSchema`, wordsOf(tool.inputSchema)],
      [`tools[${at}].outputSchema`, wordsOf(tool.outputSchema)],
    ]),
    // What is quoted of a file is quoted by its path, so a path is read too.
    ...knowledge.map((path, at): [string, string] => [`knowledge[${at}]`, path.replace(/[/_.-]+/g, ' ')]),
    ...Object.entries(knowledgeFiles).map(([path, text]): [string, string] => [
      `knowledgeFiles["${path.slice(0, 80)}"]`,
      text,
    ]),
    ['readme', manifest.readme],
    ['changelog', manifest.changelog],
    ['keywords', keywords.join(' ')],
    ['trigger.config.keywords', trigger.config?.keywords?.join(' ')],
    ['hooks.onInstall', hooks?.onInstall],
    ['hooks.onUninstall', hooks?.onUninstall],
    ['setupGuide', manifest.setupGuide],
    ['configSchema', wordsOf(manifest.configSchema)],
    ['author.name', manifest.author.name],
  ]
  return texts.filter((entry): entry is [string, string] => Boolean(entry[1]))
}

/** What a schema says in words: its descriptions, titles, defaults and names. */
function wordsOf(schema: unknown): string {
  const words: string[] = []
  const visit = (value: unknown): void => {
    if (typeof value === 'string') words.push(value)
    else if (value && typeof value === 'object') {
      for (const [name, member] of Object.entries(value)) {
        if (!Array.isArray(value)) words.push(name)
        visit(member)
      }
    }
  }
  visit(schema ?? null)
  return words.join('\n')
}
