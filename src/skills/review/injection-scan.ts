import { quoted } from '../../kernel/errors'
import { type InjectionFinding, scanForInjection } from '../../text'
import type { SkillManifest } from '../manifest'
import type { Finding } from './check'
import { doubtsAbout } from './doubts'
import { type Piece, piecesOf } from './pieces'

/** A piece of a manifest's text and the path of the member it belongs to. */
export type Part = { path: string; piece: Piece }

/** All texts of a manifest to be scanned for injected commands and hidden text, in pieces. */
export const partsOf = (manifest: SkillManifest): Part[] =>
  textsOf(manifest).flatMap(([path, text]) => piecesOf(text).map((piece) => ({ path, piece })))

/** The findings of one piece: failures and warnings of the injection scan, else the weaker doubts. */
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

/** Most findings reported per member. */
const MOST_FINDINGS = 20

/** Removes duplicate findings of overlapping pieces and keeps the first ones of each member. */
export function together(findings: readonly Finding[]): Finding[] {
  const byPath = Map.groupBy(findings, ({ path }) => path)
  return [...byPath.values()].flatMap((some) => {
    const distinct = new Map(some.map((one) => [`${one.line} ${one.message}`, one]))
    return [...distinct.values()].slice(0, MOST_FINDINGS)
  })
}

/** Every text of a manifest that an engine or a reviewer may read. */
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
    // Quotes of a file name its path, so engines read paths too.
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

/** The names and strings in a schema, such as titles, descriptions and defaults. */
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
