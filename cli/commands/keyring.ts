import { loadConfig } from '../../src/app/config'
import type { Keyring } from '../../src/app/keyring'
import { counted } from '../../src/kernel/text'
import { column, columnsOf, commandsOf } from '../command'
import { conflictFailure, usageFailure } from '../failure'
import { readSecretInput } from '../secret'
import { overridesOf } from '../settings'
import type { Shell } from '../shell'
import { text } from '../words'

const command = commandsOf('keyring', { apis: ['host'], exits: [] })
const BYTES = 32

const columns = columnsOf`
  file FILE, wrapped_by WRAPPED BY, version VERSION number, fits FITS THE DATABASE flag, webhooks.sealed WEBHOOKS number,
  webhooks.unreadable UNREADABLE WEBHOOKS number, answers.sealed KEPT ANSWERS number,
  answers.unreadable UNREADABLE ANSWERS number, engines.unreadable UNREADABLE ENGINES number`

async function readKey(shell: Shell, fromFile: string): Promise<Uint8Array> {
  const word = await readSecretInput(shell, { label: 'key', fromFile, instead: 'leave out --from-file' })
  const key = Buffer.from(word, 'base64')
  if (key.length === BYTES) return key
  throw usageFailure(
    `${fromFile} contains ${key.length} bytes in base64; a master key has ${BYTES}.`,
    'openssl rand -base64 32',
  )
}

/** @throws CommandFailed 5 for a configuration problem */
async function attempted<T extends Keyring>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const { name, message } = error as Error
    if (name !== 'ConfigError') throw error
    throw conflictFailure(message)
  }
}

export const keyringCommands = [
  command`status (exits 5 9): Show the version of the master key and what it protects
  Checks that the secrets, of the database or of secrets.json, decrypt the signing secrets of webhooks, and the answers stored for Idempotency-Keys. No secret is printed. Exits 9 when something cannot be decrypted.
  $ keyring status`({
    columns,
    async answer({ shell }) {
      const { keyringStatus: look } = await import('../../src/app/keyring')
      return attempted(() => look(loadConfig(overridesOf(shell))))
    },
    ok: ({ fits, webhooks, answers, engines }) =>
      fits && !webhooks.unreadable && !answers.unreadable && !engines.unreadable,
  }),
  command`rotate (severe, exits 1 5): Replace the master key, and encrypt again what it protects
  With SVC_MASTER_KEY or SVC_MASTER_KEY_FILE it wraps the secrets in the database with the first key there, or that of --from-file, while nodes serve. Put the new key before the old one on every node first, and remove the old one after. Earlier backups need the old one. Without a master key, the key of secrets.json is replaced. The new key is random, or the 32 bytes in base64 of --from-file. Stop every server first, and copy the new secrets.json to the other nodes after. The old file stays as secrets.vN.json; earlier backups need it, so store it with them. Unused links for signing in, inboxes and previews stop working. API keys and sessions still work.
  $ keyring rotate --dry-run
  $ keyring rotate --confirm rotate
  $ keyring rotate --from-file key.txt`({
    columns: [...columns, column('old', 'OLD KEY')],
    flags: { fromFile: text('FILE', 'file with the new key, 32 bytes in base64; - reads stdin') },
    async find(shell) {
      const { keyringStatus: look } = await import('../../src/app/keyring')
      const config = loadConfig(overridesOf(shell))
      const { webhooks, answers, version, wrapped_by } = await attempted(() => look(config))
      const what = `${counted(webhooks.sealed, 'webhook')} and ${counted(answers.sealed, 'stored answer')}`
      return { config, wrapped_by, what: `replace master key v${version} and encrypt ${what} again` }
    },
    action: ({ wrapped_by, what }) =>
      wrapped_by === null ? what : `wrap the secrets of the database with another key than ${wrapped_by}`,
    named: () => 'rotate',
    async answer({ shell }, { config, wrapped_by, fromFile }) {
      const { rewrapSecrets, rotateKeyring } = await import('../../src/app/keyring')
      const key = fromFile === undefined ? null : await readKey(shell, fromFile)
      return attempted<Keyring & { old: string }>(() =>
        wrapped_by === null ? rotateKeyring(config, key) : rewrapSecrets(config, key),
      )
    },
    note: ({ old }, { wrapped_by }) =>
      wrapped_by === null
        ? `Store ${old} with the earlier backups, away from this machine, and delete it here.`
        : `Nodes need the new key when they start. Remove ${old} from them; earlier backups need it.`,
  }),
]
