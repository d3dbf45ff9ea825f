import { isEventPattern } from '../../events/schema'
import { messageOf } from '../../kernel/errors'
import { isTimeZone, problemOfCron } from '../../kernel/schedule'
import type { Static } from '../../kernel/schema'
import type { SkillManifest } from '../manifest'
import type { SkillFinding } from '../schema-operator'

/** A finding of one check with its location, such as `tools[2].name`, line 14. */
export type Evidence = Static<typeof SkillFinding>

export type CheckName = 'schema' | 'injection_scan' | 'tool_names' | 'permissions' | 'slug_unique' | 'version'

/** A finding without its check's name. A check without findings has passed. */
export type Finding = Omit<Evidence, 'check'>

export const fail = (path: string, message: string, line: number | null = null): Finding => ({
  severity: 'fail',
  path,
  line,
  message,
})
export const warn = (path: string, message: string, line: number | null = null): Finding => ({
  severity: 'warn',
  path,
  line,
  message,
})

/** A check that needs only the manifest. */
export type ManifestCheck = (manifest: SkillManifest) => Finding[]

const SHOWN = 3

/** The result of a check: `pass`, `warn: …` or `fail: …`. Omits warnings when there are failures (docs/api.md 8.2). */
export function resultOf(findings: readonly Finding[]): string {
  const failed = findings.filter(({ severity }) => severity === 'fail')
  const shown = failed.length ? failed : findings
  if (!shown.length) return 'pass'
  const more = shown.length > SHOWN ? ` ${shown.length - SHOWN} more.` : ''
  const sentences = shown
    .slice(0, SHOWN)
    .map(({ message, line }) => (line === null ? message : `Line ${line}: ${message}`))
  return `${failed.length ? 'fail' : 'warn'}: ${sentences.join(' ')}${more}`
}

/** Whether no check failed. Warnings do not reject a manifest. */
export const hasPassed = (checks: Readonly<Record<string, string>>): boolean =>
  !Object.values(checks).some((result) => result.startsWith('fail'))

/** Words that suggest running code or a shell (docs/api.md 8.2). */
const FORBIDDEN = new Set([
  'exec',
  'execute',
  'shell',
  'bash',
  'eval',
  'sudo',
  'spawn',
  'subprocess',
  'system',
  'powershell',
  'zsh',
  'sh',
  'popen',
  'cmd',
])

/** Pairs of words that together suggest running code, in either order: `run_code`, `runcode`, `python_runner`. */
const DOING = ['run', 'runs', 'runner', 'execution', 'executor', 'interpret', 'interpreter']
const CODE = ['code', 'command', 'commands', 'script', 'scripts', 'python', 'javascript', 'shell', 'bash']
const TOGETHER = new Set(
  DOING.flatMap((doing) =>
    CODE.flatMap((code) => [doing + code, code + doing, `${doing}_${code}`, `${code}_${doing}`]),
  ),
)

/** Names of the server's own tools, and of properties every JavaScript object has. */
const TAKEN = new Set([
  'web_search',
  'web_fetch',
  'code_execute',
  'save_memory',
  'search_memory',
  'deep_research',
  'generate_image',
  'generate_video',
  'generate_code',
  'generate_document',
  '__proto__',
  'constructor',
  'prototype',
  'tostring',
  'valueof',
  'hasownproperty',
])
const TAKEN_PREFIXES = ['browser_', 'svc_']

/** Tool names must be unique, must not suggest running code and must not equal a name of the server's own tools. */
export const checkToolNames: ManifestCheck = ({ tools }) => {
  const first = new Map<string, number>()
  return tools.flatMap(({ name }, at): Finding[] => {
    const path = `tools[${at}].name`
    const earlier = first.get(name)
    first.set(name, earlier ?? at)
    const word = forbiddenIn(name)
    const isOurs = TAKEN.has(name) || TAKEN_PREFIXES.some((prefix) => name.startsWith(prefix))
    return [
      ...(word
        ? [
            fail(
              path,
              `"${path}" is "${name}"; "${word}" suggests that it runs code or a shell, which skills must not do.`,
            ),
          ]
        : []),
      ...(isOurs ? [fail(path, `"${path}" is "${name}", which is reserved by this server. Choose another.`)] : []),
      ...(earlier === undefined
        ? []
        : [fail(path, `"${path}" is "${name}", which is also the name of tools[${earlier}].`)]),
    ]
  })
}

/** Letters that look-alike digits stand in for, as in `ex3c`. Trailing digits, as in `bash2`, are dropped instead. */
const LETTER_OF: Readonly<Record<string, string>> = { 0: 'o', 1: 'l', 3: 'e', 4: 'a', 5: 's', 7: 't' }
const spelled = (word: string): string =>
  word.replace(/(?<!\d)\d+$/, '').replace(/[013457]/g, (figure) => LETTER_OF[figure]!)

/** The part of a name that suggests running code, as written in the name. */
function forbiddenIn(name: string): string | undefined {
  const words = name.split('_').filter(Boolean)
  const pairs = words.slice(1).map((word, at) => `${words[at]}_${word}`)
  const isTelling = (word: string) => FORBIDDEN.has(word) || TOGETHER.has(word)
  return [...words, ...pairs].find((part) => isTelling(part) || isTelling(part.split('_').map(spelled).join('_')))
}

/** A skill must declare the permissions it needs (docs/api.md 8.1). */
export const checkPermissions: ManifestCheck = ({ permissions, tools, trigger }) => {
  const findings: Finding[] = []
  const has = (permission: (typeof permissions)[number]) => permissions.includes(permission)
  if ((trigger.type === 'event' || trigger.type === 'schedule') && !has('autonomous:run')) {
    findings.push(
      fail(
        'permissions',
        `A trigger of type "${trigger.type}" runs by itself and needs the permission autonomous:run.`,
      ),
    )
  }
  if (tools.length && permissions.length && !has('execute:tools')) {
    findings.push(
      warn('permissions', 'Tools are declared without execute:tools, so they are left out when the skill is loaded.'),
    )
  }
  if (permissions.length && !has('external:http')) {
    const calling = tools.findIndex(({ endpoint }) => endpoint)
    if (calling >= 0) {
      findings.push(
        fail(
          `tools[${calling}].endpoint`,
          `"tools[${calling}].endpoint" calls another host and needs the permission external:http.`,
        ),
      )
    }
  }
  if (new Set(permissions).size < permissions.length) {
    findings.push(warn('permissions', 'A permission is listed twice.'))
  }
  findings.push(...problemsOfTrigger(trigger))
  return findings
}

function problemsOfTrigger({ type, config }: Parameters<ManifestCheck>[0]['trigger']): Finding[] {
  const lacks = (member: string) => [
    fail(`trigger.config.${member}`, `"trigger.config.${member}" is missing; a trigger of type "${type}" needs it.`),
  ]
  if (type === 'keyword' && !config?.keywords?.length) return lacks('keywords')
  if (type === 'event') return config?.eventPattern ? problemsOfPattern(config.eventPattern) : lacks('eventPattern')
  if (type === 'schedule') return config?.cron ? problemsOfSchedule(config.cron, config.timezone) : lacks('cron')
  return []
}

const problemsOfPattern = (pattern: string): Finding[] =>
  isEventPattern(pattern)
    ? []
    : [
        fail(
          'trigger.config.eventPattern',
          `"trigger.config.eventPattern" is ${messageOf(pattern)}; it must be the name of an event such as order.created, with * for a part.`,
        ),
      ]

function problemsOfSchedule(cron: string, timezone: string | undefined): Finding[] {
  const problem = problemOfCron(cron)
  const of = (member: string, message: string) =>
    fail(`trigger.config.${member}`, `"trigger.config.${member}" ${message}.`)
  return [
    ...(problem ? [of('cron', `is ${messageOf(cron)}, which ${problem}`)] : []),
    ...(timezone === undefined || isTimeZone(timezone)
      ? []
      : [of('timezone', `is ${messageOf(timezone)}, which is not a time zone such as Europe/Vienna`)]),
  ]
}

/** A new version must be higher than every earlier one, whatever its status (docs/api.md 8.1). */
export function checkVersion(version: string, earlier: readonly string[]): Finding[] {
  const highest = earlier.reduce<string | null>((max, one) => (max === null || isHigher(one, max) ? one : max), null)
  if (highest === null || isHigher(version, highest)) return []
  return [fail('version', `"version" is ${version}; it must be higher than ${highest}, which already exists.`)]
}

const parts = (version: string): { core: number[]; pre: string[] } => {
  const [plain = ''] = version.split('+')
  const dash = plain.indexOf('-')
  const core = (dash < 0 ? plain : plain.slice(0, dash)).split('.').map(Number)
  return { core, pre: dash < 0 ? [] : plain.slice(dash + 1).split('.') }
}

/** Whether a version is higher than another by semver 2.0. Ignores build metadata after `+`. */
export function isHigher(version: string, other: string): boolean {
  const [a, b] = [parts(version), parts(other)]
  for (let index = 0; index < 3; index++) {
    const [mine, theirs] = [a.core[index] ?? 0, b.core[index] ?? 0]
    if (mine !== theirs) return mine > theirs
  }
  if (!a.pre.length || !b.pre.length) return !a.pre.length && b.pre.length > 0
  return comparePre(a.pre, b.pre) > 0
}

const NUMERIC = /^\d+$/

function comparePre(a: readonly string[], b: readonly string[]): number {
  for (let index = 0; index < Math.max(a.length, b.length); index++) {
    const [mine, theirs] = [a[index], b[index]]
    if (mine === undefined || theirs === undefined) return mine === undefined ? -1 : 1
    if (mine === theirs) continue
    const [isNumber, isTheirs] = [NUMERIC.test(mine), NUMERIC.test(theirs)]
    // Compares digit strings, because `Number` would round long ones.
    if (isNumber && isTheirs) return mine.length - theirs.length || (mine < theirs ? -1 : 1)
    if (isNumber !== isTheirs) return isNumber ? -1 : 1
    return mine < theirs ? -1 : 1
  }
  return 0
}
