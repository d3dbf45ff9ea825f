import { allCommands } from '../../cli/registry'
import { SETTINGS } from '../../src/app/config'
import { SAMPLES } from '../../src/events/samples'
import { ERROR_PAGES } from '../../src/reference/schema'
import { sections, table } from '../../src/reference/write'
import { GLOBAL, SCREEN_KEYS } from '../../tui/keymap'

const NOTE = 'Made by `bun run generate:docs`.'

/** The pages of `docs/reference` by their files: what the code declares, as tables. */
export async function generatedPages(): Promise<Record<string, string>> {
  const pages = { commands: await commands(), settings: settings(), errors: errors(), events: events(), keys: keys() }
  return Object.fromEntries(Object.entries(pages).map(([name, text]) => [`docs/reference/${name}.md`, `${text}\n`]))
}

async function commands(): Promise<string> {
  const all = await allCommands()
  return sections(
    '# Commands',
    `\`svc-admin COMMAND --help\` has flags, examples and exit codes. ${NOTE}`,
    table(
      ['Command', 'Does', 'Impact'],
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
    'The environment has the first name. `svc.server.json` and `svc-admin config set` have the second.',
    `The environment goes before the file, and the file before your own file (\`config set --user\`). ${NOTE}`,
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
    `An answer that is no success has one of these as \`error.code\`. \`/docs/errors/CODE\` says what to do. ${NOTE}`,
    table(
      ['Status', 'Code', 'Means'],
      Object.entries(ERROR_PAGES).map(([code, { status, meaning }]) => [String(status), `\`${code}\``, meaning]),
    ),
  )

const events = (): string =>
  sections(
    '# Events',
    `Webhooks, hooks and workflows hear these. \`svc-admin webhooks events --sample TYPE\` shows a payload. ${NOTE}`,
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
    '# Keys of the dashboard',
    `\`svc-admin dashboard\` has these, and \`?\` shows those of the screen. ${NOTE}`,
    ...Object.entries({ 'Every screen': GLOBAL, ...SCREEN_KEYS })
      .filter(([, bindings]) => bindings.length > 0)
      .map(([screen, bindings]) =>
        sections(
          `## ${screen[0]!.toUpperCase()}${screen.slice(1)}`,
          table(
            ['Keys', 'Do'],
            bindings.map(({ keys: pressed, about }) => [pressed.map((key) => `\`${key}\``).join(' '), about]),
          ),
        ),
      ),
  )
