import { connectionOver, openConnection } from '../../cli/open'
import type { World as CliWorld } from '../../cli/shell'
import { systemClock } from '../../src/kernel/clock'
import { type CliOptions, cli, type Line, wordsIn } from './io'
import type { World } from './world'

type Options = Pick<CliOptions, 'io' | 'env' | 'signal' | 'clock'> & { key?: string }

/**
 * Runs svc-admin against a world: over its operator API, or, with a key, over its tenant API as `--url` does. `json`
 * returns the answer in JSON. `always` holds for every run that does not say otherwise.
 */
export function cliOver(world: World, always: Options = {}) {
  const { app, config } = world
  const open =
    (remote: boolean): CliWorld['open'] =>
    async (shell, command) => {
      const api = { kind: 'app' as const, handle: app.api.handle }
      const transport = remote
        ? { kind: 'remote' as const, url: 'http://localhost', why: '--url' }
        : { kind: 'socket' as const, path: 'ops.sock', why: 'a server answers here' }
      const isOperator = shell.env.SVC_API_KEY?.startsWith('svc_op_')
      const operators = { kind: 'app' as const, handle: (isOperator && app.remoteOps ? app.remoteOps : app.ops).handle }
      const reached = { operators, tenants: async () => api, close: async () => undefined }
      return connectionOver(shell, { transport, config, command, reached })
    }
  const run = (line: Line, options: Options = {}) => {
    const { key, env = {}, ...rest } = { ...always, ...options }
    return cli(line, { ...rest, env: { ...env, ...(key ? { SVC_API_KEY: key } : {}) }, open: open(key !== undefined) })
  }
  return withJson(run)
}

/** Runs svc-admin as a process would: it finds its server itself. `more` ends every line. */
export const cliHere = (always: CliOptions = {}, ...more: readonly string[]) =>
  withJson((line, options: CliOptions = {}) =>
    cli([...wordsIn(line), ...more], { clock: systemClock, open: openConnection, ...always, ...options }),
  )

/** The same with `json`, which returns the answer in JSON. */
function withJson<Given>(run: (line: Line, options?: Given) => ReturnType<typeof cli>) {
  const json = async (line: Line, options?: Given) => {
    const { exitCode, stdout, stderr } = await run([...wordsIn(line), '--json'], options)
    if (!stdout) throw new Error(`${wordsIn(line).join(' ')} ended with ${exitCode}: ${stderr}`)
    return JSON.parse(stdout)
  }
  return Object.assign(run, { json })
}
