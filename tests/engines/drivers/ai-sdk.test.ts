import { createAiSdkDriver } from '../../../src/engines/drivers/ai-sdk-client'
import type { FailureKind } from '../../../src/engines/engine'
import { systemClock } from '../../../src/kernel/clock'
import { engineSuite, upstreamSuite } from '../../suites/engine.suite'
import { fakeClock } from '../../support/clock'
import { startUpstream } from '../../support/upstream'
import { generateDialect, messagesDialect, responsesDialect } from '../../support/upstream/vendors'

const DIALECTS = { anthropic: messagesDialect, google: generateDialect, openai: responsesDialect }

/** The packages wrap what they cannot read; which of these it was cannot be told from outside. */
const INSTEAD: Record<string, FailureKind[]> = {
  'error-event': ['server', 'malformed', 'truncated'],
  'wrong-type': ['malformed', 'truncated'],
}

for (const [vendor, dialect] of Object.entries(DIALECTS)) {
  const upstream = await startUpstream({ dialect })
  const options = {
    vendor: vendor as keyof typeof DIALECTS,
    baseUrl: upstream.url,
    apiKey: 'sk-test',
    clock: fakeClock(),
  }
  const driver = createAiSdkDriver(options)
  const impatient = createAiSdkDriver({ ...options, clock: systemClock, silenceMs: 150 })
  engineSuite(vendor, driver, 'Hello')
  upstreamSuite(vendor, { driver, impatient, upstream, instead: INSTEAD })
}
