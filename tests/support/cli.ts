import { connectionOver } from '../../cli/open'
import type { World as CliWorld } from '../../cli/shell'
import { type CliOptions, cli } from './io'
import type { World } from './world'

type Options = Pick<CliOptions, 'io' | 'env' | 'signal' | 'clock'> & { key?: string }

/** Runs svc-admin against a world: over its operator API, or, with a key, over its tenant API as `--url` does. */
export function cliOver(world: World) {
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
  return (line: readonly string[], { key, env = {}, ...rest }: Options = {}) =>
    cli(line, { ...rest, env: { ...env, ...(key ? { SVC_API_KEY: key } : {}) }, open: open(key !== undefined) })
}
