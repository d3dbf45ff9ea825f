import { defineCommand } from '../command'
import { BadWord, usageFailure } from '../failure'
import { overridesOf } from '../overrides'
import { choice, choices, flag, text, whole } from '../words'

/** As in src/app/roles, which a command that only prints help need not load. */
const ROLES = ['api', 'jobs', 'deliveries', 'browser'] as const

/** Nothing, as of a variable that is not set, would be every network. */
function readAddress(word: string): string {
  if (/^[^\s[\]/]+$/.test(word)) return word
  throw new BadWord(`is "${word}"; it must be an address such as 127.0.0.1, 0.0.0.0 or ::1`)
}

export const serve = defineCommand({
  path: 'serve',
  summary: 'Run the server: the API, its loops and the operator socket',
  about:
    'Starts the server. It creates the data folder, the secrets and the database if they are missing. In dev mode the first start also creates an owner, an org and a key. Production mode starts only when every check passes; otherwise it lists each problem. Ctrl-C or SIGTERM stops the server after the running requests are answered. A second one ends them at once.',
  examples: [
    'serve --dev',
    'serve --production --host 0.0.0.0 --port 8080 --log-format json',
    'serve --roles jobs,deliveries',
  ],
  apis: ['host'],
  impact: 'write',
  flags: {
    dev: flag('development mode, even when NODE_ENV says production'),
    production: flag('production mode, with its checks'),
    host: { ...text('ADDRESS', 'address to listen on; 127.0.0.1 by default'), read: readAddress },
    port: whole('N', 'port to listen on; 3400 by default, 0 picks a free one', { min: 0, max: 65_535 }),
    unix: text('PATH', 'listen on a Unix socket instead of a port, for a proxy on this machine'),
    roles: choices(ROLES, 'what this process does; other processes on the same Postgres do the rest'),
    noBrowser: flag('no browser sessions in this process'),
    migrate: choice(
      ['auto', 'check', 'off'],
      'update an outdated schema, refuse to start with it, or leave it as it is',
    ),
    logFormat: choice(['pretty', 'json'], 'log lines for people or for programs'),
    newSecrets: flag('start even if secrets.json is lost; what it encrypted stays unreadable'),
    logLevel: choice(['debug', 'info', 'warn', 'error', 'silent'], 'the lowest level to log'),
  },
  async run(shell, { dev, production, newSecrets, roles, noBrowser, ...settings }) {
    if (dev && production) throw usageFailure('--dev and --production exclude each other. Leave one out.')
    if (shell.planned('run the server until it is stopped')) return
    const mode = dev || production ? { production: production === true } : {}
    const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
    const shared = {
      ...(roles ? { roles: roles.join(',') } : {}),
      ...(noBrowser ? { browserPath: 'off', browserWsEndpoint: '' } : {}),
    }
    const hurry = shell.takeSignals()
    const { serve: run } = await (await import('../../src/app/bundle')).loadServer()
    await run({ ...overridesOf(shell), ...mode, ...given, ...shared }, { newSecrets, stop: shell.signal, hurry })
    // Never resolves: the server ends the process itself after a signal, once the last answer is out.
    await new Promise<never>(() => undefined)
  },
})
