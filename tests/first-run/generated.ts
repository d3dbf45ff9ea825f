import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { allCommands } from '../../cli/registry'
import { loadConfig, SETTINGS } from '../../src/app/config'
import { openApp } from '../../src/app/open'
import { SAMPLES } from '../../src/events/samples'
import { createOperatorRules, type OperatorRule, rolesFor } from '../../src/http/operator-edge'
import { systemClock } from '../../src/kernel/clock'
import { createLog } from '../../src/kernel/log'
import { TOPIC_WORDS } from '../../src/operators/schema-stream'
import { ERROR_PAGES } from '../../src/pages/reference/error-pages'
import { sections, table } from '../../src/pages/reference/write'
import { GLOBAL, SCREEN_KEYS } from '../../tui/keymap'
import { copyMigratedFile } from '../support/store'

const NOTE = 'Made by `bun run generate:docs`.'

/** The pages of `docs/reference` by their files: what the code declares, as tables. */
export async function generatedPages(): Promise<Record<string, string>> {
  const pages = {
    commands: await commands(),
    settings: settings(),
    errors: errors(),
    events: events(),
    keys: keys(),
    operators: await operators(),
  }
  return Object.fromEntries(Object.entries(pages).map(([name, text]) => [`docs/reference/${name}.md`, `${text}\n`]))
}

async function commands(): Promise<string> {
  const all = await allCommands()
  return sections(
    '# Commands',
    `\`svc-admin COMMAND --help\` shows flags, examples and exit codes. ${NOTE}`,
    table(
      ['Command', 'What it does', 'Impact'],
      all.map(({ path, summary, impact }) => [
        `\`svc-admin ${path}\``,
        summary,
        impact === 'read' ? 'reads' : 'changes',
      ]),
    ),
  )
}

const settings = (): string =>
  sections(
    '# Settings',
    'Use the first name in the environment, and the second in `svc.server.json` and with `svc-admin config set`.',
    `The environment overrides \`svc.server.json\`, which overrides your own file (\`config set --user\`). ${NOTE}`,
    table(
      ['Environment', 'File', 'Default', 'Meaning'],
      Object.entries(SETTINGS).map(([name, { env, default: value, about }]) => {
        const isNone = value === '' || (typeof value === 'object' && Object.keys(value).length === 0)
        return [
          `\`${env}\``,
          `\`${name}\``,
          isNone ? 'none' : `\`${typeof value === 'object' ? JSON.stringify(value) : value}\``,
          about,
        ]
      }),
    ),
  )

const errors = (): string =>
  sections(
    '# Errors',
    `Every error has one of these codes in \`error.code\`. \`/docs/errors/CODE\` explains how to fix it. ${NOTE}`,
    table(
      ['Status', 'Code', 'Meaning'],
      Object.entries(ERROR_PAGES).map(([code, { status, meaning }]) => [String(status), `\`${code}\``, meaning]),
    ),
  )

const events = (): string =>
  sections(
    '# Events',
    `Webhooks, hooks and workflows receive these. \`svc-admin webhooks events --sample TYPE\` shows a payload. ${NOTE}`,
    table(
      ['Event', 'When', 'Data'],
      Object.entries(SAMPLES).map(([type, { about, data }]) => [
        `\`${type}\``,
        about,
        Object.keys(data)
          .map((name) => `\`${name}\``)
          .join(', '),
      ]),
    ),
  )

const keys = (): string =>
  sections(
    '# Dashboard keys',
    `These keys work in \`svc-admin dashboard\`. Press \`?\` for those of the current screen. ${NOTE}`,
    ...Object.entries({ 'Every screen': GLOBAL, ...SCREEN_KEYS })
      .filter(([, bindings]) => bindings.length > 0)
      .map(([screen, bindings]) =>
        sections(
          `## ${screen[0]!.toUpperCase()}${screen.slice(1)}`,
          table(
            ['Keys', 'Action'],
            bindings.map(({ keys: pressed, about }) => [pressed.map((key) => `\`${key}\``).join(' '), about]),
          ),
        ),
      ),
  )

/** Every route of the operators' API, as it is served: what it holds, and which roles it asks for. */
async function operators(): Promise<string> {
  const rules = await servedRules()
  const [reading, changing] = [rules.filter(isReading), rules.filter((rule) => !isReading(rule))]
  return sections(
    '# Operator routes',
    'The role `admin` can call every route. Facts are counts, states, times, ids, names and amounts.',
    'Content is what people wrote or sent. Links work for anyone who has them. Only `support` sees both.',
    `Other roles get the named members empty, and \`withheld\` in the answer lists them. ${NOTE}`,
    '## Routes that read',
    table(
      ['Route', 'Returns', 'Roles', 'Roles that see content'],
      reading.map((rule) => [spelled(rule), heldBy(rule), wordsOf(rolesFor(rule)), seenBy(rule)]),
    ),
    '## Routes that change',
    table(
      ['Route', 'Roles besides admin'],
      changing.map((rule) => [spelled(rule), wordsOf(rolesFor(rule))]),
    ),
    '## Stream topics',
    'In `/ops/v1/stream` and `/ops/v1/snapshot` these members are empty for roles that do not see content.',
    table(
      ['Topic', 'Members', 'Roles that see them'],
      Object.entries(TOPIC_WORDS).map(([topic, { members, role }]) => [
        `\`${topic}\``,
        members.map((name) => `\`${name}\``).join(', ') || 'none',
        members.length ? wordsOf(['support', ...(role ? [role] : [])]) : '',
      ]),
    ),
  )
}

async function servedRules(): Promise<readonly OperatorRule[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-routes-'))
  await copyMigratedFile(join(dataDir, 'svc.db'))
  const log = createLog({ level: 'silent', pretty: false, write: () => undefined })
  const app = await openApp({ config: loadConfig({ dataDir, opsListen: '127.0.0.1:0' }), clock: systemClock, log })
  const rules = createOperatorRules()
  rules.learn(app.remoteOps!.routes)
  await app.close()
  rmSync(dataDir, { recursive: true, force: true })
  return rules.all()
}

const isReading = ({ method, role }: OperatorRule): boolean => method === 'GET' || role === 'any'
const spelled = ({ method, path }: OperatorRule): string => `\`${method} ${path}\``
const heldBy = ({ holds }: OperatorRule): string =>
  typeof holds === 'string' ? holds : `facts; ${holds.map((name) => `\`${name}\``).join(', ')}`
const wordsOf = (roles: 'all' | readonly string[]): string =>
  roles === 'all'
    ? 'every role'
    : [...new Set(roles)].map((role) => (role === 'none' ? '`admin`' : `\`${role}\``)).join(', ')
const seenBy = ({ holds, role }: OperatorRule): string =>
  holds === 'facts' ? '' : wordsOf(['support', ...(role && role !== 'any' ? [role] : [])])
