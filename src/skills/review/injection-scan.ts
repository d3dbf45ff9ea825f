import { quoted } from '../../kernel/errors'
import { type InjectionFinding, scanForInjection } from '../../kernel/injection'
import { meetingsIn } from '../../kernel/injection/concepts'
import { readable } from '../../kernel/injection/readable'
import type { SkillManifest } from '../manifest'
import { type Finding, type ManifestCheck, warn } from './check'

/** Nothing in a manifest may command the engine beyond its skill, nor hide what it says. */
export const scanManifest: ManifestCheck = (manifest) =>
  textsOf(manifest).flatMap(([path, text]) => {
    const found = scanForInjection(text)
    return [...found.map(told), ...(found.length ? [] : doubtsAbout(path, text))]

    function told({ severity, about, via, line, excerpt }: InjectionFinding): Finding {
      const how = via === 'plain' ? '' : ` (${via})`
      const message = `"${path}" ${about}${how}: "${quoted(excerpt)}".`
      return { severity: severity === 'block' ? 'fail' : 'warn', path, line, message, excerpt }
    }
  })

/** Members that only people read, where badges and data of pictures are nothing to wonder about. */
const FOR_PEOPLE = new Set(['readme', 'changelog', 'setupGuide'])

/** What an engine has no need to read or to write, whatever stands around it. */
const SUSPECT: readonly [pattern: RegExp, about: string][] = [
  [
    /!\[[^\]\n]{0,200}\]\(https?:[^)\s]{1,200}[?&][\w.-]{1,64}=[{<[$)]/,
    'has a picture fetched with something filled in',
  ],
  [/(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{160,}/, 'holds a long run that nobody can read'],
]

/** Nothing that is surely an attempt; what a person should read all the same. */
function doubtsAbout(path: string, text: string): Finding[] {
  const suspect = FOR_PEOPLE.has(path) ? [] : SUSPECT.filter(([pattern]) => pattern.test(text))
  return [...suspect.map(([, about]) => warn(path, `"${path}" ${about}.`)), ...meetingsOf(path, text)]
}

function meetingsOf(path: string, text: string): Finding[] {
  const { text: plain, at: places } = readable(text)
  return meetingsIn(plain).map(({ about, at }) => {
    const start = places[at] ?? 0
    const line = text.slice(0, start).split('\n').length
    const excerpt = text.slice(start, start + 100)
    return { severity: 'warn', path, line, message: `"${path}" ${about}: "${quoted(excerpt)}".`, excerpt }
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
