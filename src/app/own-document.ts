import { systemClock } from '../kernel/clock'
import { createLog } from '../kernel/log'
import { loadConfig } from './config'
import { openApp } from './open'

/** The OpenAPI document of these sources, from a server that is opened in the empty folder `dataDir` and closed. */
export async function ownDocument(dataDir: string): Promise<Record<string, unknown>> {
  const log = createLog({ level: 'silent', pretty: false, write: () => undefined })
  const app = await openApp({ config: loadConfig({ dataDir }), clock: systemClock, log, serving: false })
  const answer = await app.api.handle(new Request('http://localhost/openapi.json'))
  const document = (await answer.json()) as Record<string, unknown>
  await app.close()
  return document
}

// A process of its own, since it is told what to open by its environment.
if (import.meta.main) process.stdout.write(JSON.stringify(await ownDocument('data')))
