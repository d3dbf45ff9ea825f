import { systemClock } from '../kernel/clock'
import { createLog } from '../kernel/log'
import { loadConfig } from './config'
import { openApp } from './open'

/** The OpenAPI document of these sources. Opens a server in the empty folder `dataDir` and closes it. */
export async function ownDocument(dataDir: string): Promise<Record<string, unknown>> {
  const log = createLog({ level: 'silent', pretty: false, write: () => undefined })
  const app = await openApp({ config: loadConfig({ dataDir }), clock: systemClock, log, serving: false })
  const answer = await app.api.handle(new Request('http://localhost/openapi.json'))
  const document = (await answer.json()) as Record<string, unknown>
  await app.close()
  return document
}

// Runs as its own process, because the environment decides what it opens.
if (import.meta.main) process.stdout.write(JSON.stringify(await ownDocument('data')))
