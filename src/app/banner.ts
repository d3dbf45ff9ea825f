import { relative } from 'node:path'
import type { RunningApp } from './start'
import { RELEASE } from './version'

/** The text printed at start (dx 4.1, 4.2): where things are and, on the first start on a terminal, the first key. */
export function banner(running: RunningApp, { isTty, startedMs }: { isTty: boolean; startedMs: number }): string {
  const { app, seed, url, socket, opsUrl } = running
  const { config, findings, container } = app
  const here = shortPath
  const lines = [
    `svc ${RELEASE}, ${config.production ? 'production' : 'dev mode'}`,
    '',
    ...facts([
      ['config', config.file ? here(config.file) : 'defaults and environment'],
      ['secrets', `${here(config.dataDir)}/secrets.json${findings.newSecrets ? ' (new, only you can read it)' : ''}`],
      ['database', databaseLine(running, here)],
      ['engines', enginesLine(container.engines.hasModel())],
      ...(seed ? [['seed', `org "${seed.org}", key "Dev laptop", credit to try everything`] as [string, string]] : []),
    ]),
    '',
    `  API         ${url}/api/v1`,
    `  OpenAPI     ${url}/openapi.json`,
    `  Operators   ${here(socket)} (svc-admin finds it)`,
    ...(opsUrl ? [`              ${opsUrl} (svc-admin --url, with an operator key)`] : []),
    '',
    ...keyLines(running, isTty, here),
    `Ready in ${(startedMs / 1000).toFixed(1)} s. Ctrl-C stops the server.`,
    '',
  ]
  return lines.join('\n')
}

/** The path relative to the working directory, unless it lies outside of it. */
function shortPath(path: string): string {
  const near = relative(process.cwd(), path)
  return near && !near.startsWith('..') ? near : path
}

const facts = (pairs: [string, string][]): string[] => pairs.map(([name, fact]) => `  ok  ${name.padEnd(10)} ${fact}`)

function databaseLine({ app: { config, findings } }: RunningApp, here: (path: string) => string): string {
  const what = config.databaseUrl ? 'postgres' : `${here(config.dataDir)}/svc.db`
  const took = `${(findings.databaseMs / 1000).toFixed(1)} s`
  const state = findings.newDatabase
    ? `new, ${findings.migrations} ${findings.migrations === 1 ? 'migration' : 'migrations'}, ${took}`
    : took
  return `${what} (${state})`
}

const enginesLine = (hasModel: boolean): string =>
  hasModel
    ? 'connected'
    : 'built-in engine for all text modes: free, instant, not a language model (connect one with SVC_ENGINE_BASE_URL)'

function keyLines({ seed, keyless }: RunningApp, isTty: boolean, here: (path: string) => string): string[] {
  if (keyless) return ['No keys exist. Create one: svc-admin keys create --name NAME', '']
  if (!seed) return []
  if (!isTty) return [`First key written to ${here(seed.keyFile)} (mode 0600)`, '']
  return [
    '  Your API key. It is shown only this once:',
    '',
    `      ${seed.key}`,
    '',
    `  A copy is in ${here(seed.keyFile)} for the examples. Delete it when you like.`,
    '',
    '  Next, in a second terminal:',
    '      ./svc-admin try "Say hello in five words"',
    '',
  ]
}
