import { readFileSync } from 'node:fs'
import type { Command } from './command'
import { singularOf } from './program'

type Load = () => Promise<readonly Command[]>

/**
 * Every command by its first word, in the order of help. Loads only the commands that a command line names, because
 * loading all takes longer than most take to run.
 */
const groups: Readonly<Record<string, Load>> = {
  init: async () => [(await import('./commands/serve')).init],
  quickstart: async () => [(await import('./commands/quickstart')).quickstart],
  serve: async () => [(await import('./commands/serve')).serve],
  status: async () => [(await import('./commands/status')).status],
  dashboard: async () => [(await import('./commands/dashboard')).dashboard],
  open: async () => [(await import('./commands/open')).openPage],
  doctor: async () => [(await import('./commands/doctor')).doctor],
  try: async () => [(await import('./commands/try')).tryPrompt],
  trace: async () => [(await import('./commands/logs')).trace],
  logs: async () => (await import('./commands/logs')).logCommands,
  verify: async () => [(await import('./commands/status')).verify],
  keys: async () => (await import('./commands/keys')).keyCommands,
  limits: async () => (await import('./commands/limits')).limitCommands,
  tiers: async () => (await import('./commands/limits')).tierCommands,
  operators: async () => (await import('./commands/operators')).operatorCommands,
  orgs: async () => (await import('./commands/orgs')).orgCommands,
  members: async () => (await import('./commands/members')).memberCommands,
  users: async () => (await import('./commands/users')).userCommands,
  usage: async () => (await import('./commands/usage')).usageCommands,
  credits: async () => (await import('./commands/credits')).creditCommands,
  audit: async () => (await import('./commands/audit')).auditCommands,
  routing: async () => (await import('./commands/routing')).routingCommands,
  guardrails: async () => (await import('./commands/guardrails')).guardrailCommands,
  policies: async () => (await import('./commands/policies')).policyCommands,
  skills: async () => (await import('./commands/skills')).skillCommands,
  canvases: async () => (await import('./commands/canvases')).canvasCommands,
  workflows: async () => (await import('./commands/workflows')).workflowCommands,
  search: async () => [(await import('./commands/views')).search],
  tests: async () => (await import('./commands/views')).testCommands,
  views: async () => (await import('./commands/views')).viewCommands,
  submissions: async () => (await import('./commands/submissions')).submissionCommands,
  engines: async () => (await import('./commands/engines')).engineCommands,
  cache: async () => (await import('./commands/cache')).cacheCommands,
  nodes: async () => (await import('./commands/nodes')).nodeCommands,
  jobs: async () => (await import('./commands/jobs')).jobCommands,
  conversations: async () => (await import('./commands/conversations')).conversationCommands,
  batches: async () => (await import('./commands/files')).batchCommands,
  files: async () => (await import('./commands/files')).fileCommands,
  artifacts: async () => (await import('./commands/files')).artifactCommands,
  hooks: async () => (await import('./commands/hooks')).hookCommands,
  webhooks: async () => [
    ...(await import('./commands/webhooks')).webhookCommands,
    ...(await import('./commands/webhooks-local')).webhookLocalCommands,
    ...(await import('./commands/webhooks')).webhookTriggerCommands,
  ],
  widgets: async () => (await import('./commands/widgets')).widgetCommands,
  browser: async () => [
    ...(await import('./commands/browser')).browserCommands,
    (await import('./commands/doctor')).browserDoctor,
  ],
  takeovers: async () => (await import('./commands/takeovers')).takeoverCommands,
  deliveries: async () => (await import('./commands/deliveries')).deliveryCommands,
  events: async () => (await import('./commands/events')).eventCommands,
  openapi: async () => [(await import('./commands/openapi')).openapi],
  keyring: async () => (await import('./commands/keyring')).keyringCommands,
  migrate: async () => (await import('./commands/migrate')).migrateCommands,
  backup: async () => (await import('./commands/backup')).backupCommands,
  dev: async () => [
    (await import('./commands/dev-seed')).devSeed,
    ...(await import('./commands/dev')).devCommands,
    (await import('./commands/dev-cluster')).devCluster,
  ],
  config: async () => (await import('./commands/config')).configCommands,
  profiles: async () => (await import('./commands/profiles')).profileCommands,
  completion: async () => [(await import('./commands/completion')).completion],
  commands: async () => [(await import('./commands/help')).listCommands],
  cheat: async () => [(await import('./commands/help')).cheat],
  help: async () => [(await import('./commands/help')).help],
  version: async () => [(await import('./commands/status')).version],
}

/** Every command from the file `outlines`. Loads a command's code when it runs. Without a file, loads all. */
export async function outlinedCommands(outlines: string | null | undefined): Promise<readonly Command[]> {
  if (!outlines) return allCommands()
  const outlined: Omit<Command, 'run'>[] = JSON.parse(readFileSync(outlines, 'utf8'))
  return outlined.map((outline) => ({
    ...outline,
    args: readable(outline.args),
    flags: readable(outline.flags),
    async run(shell, input) {
      const loaded = await commandsUnder(outline.path.split(' ')[0]!)
      await loaded?.find(({ path }) => path === outline.path)?.run(shell, input)
    },
  }))
}

/** Only the command's code could check a word. When it runs, it parses the line again with its own code. */
const readable = <R extends object>(outlined: Record<string, R>): Record<string, R> =>
  Object.fromEntries(Object.entries(outlined).map(([name, one]) => [name, { ...one, read: (word: string) => word }]))

/** Every command. Help, the machine-readable list and tests are derived from it. */
export const allCommands = (): Promise<readonly Command[]> => load(Object.values(groups))

/** The commands whose first word, or its singular, is `word`. Null when there are none. */
export function commandsUnder(word: string): Promise<readonly Command[]> | null {
  const [, group] =
    Object.entries(groups).find(([resource]) => resource === word || singularOf(resource) === word) ?? []
  return group ? load([group]) : null
}

const load = async (named: readonly Load[]): Promise<readonly Command[]> =>
  (await Promise.all(named.map((group) => group()))).flat()
