import { createAiSdkDriver } from '../../../src/engines/drivers/ai-sdk-client'
import { createCompatDriver } from '../../../src/engines/drivers/compat-client'
import { imageSuite } from '../../suites/engine.suite'
import { fakeClock } from '../../support/clock'
import { startPictureServer } from '../../support/upstream/pictures'

const shared = { apiKey: 'sk-test', clock: fakeClock() }
const compat = { ...shared, outputLimitField: 'max_tokens' }

const plain = startPictureServer()
imageSuite('compat', {
  driver: createCompatDriver({ ...compat, baseUrl: plain.url }),
  server: plain,
  models: { edits: 'gpt-image-1', describes: 'painter' },
})

const notice = startPictureServer()
imageSuite('compat that is said to change pictures', {
  driver: createCompatDriver({ ...compat, baseUrl: notice.url, imageEdits: true }),
  server: notice,
  models: { edits: 'painter' },
})

const openai = startPictureServer()
imageSuite('openai', {
  driver: createAiSdkDriver({ ...shared, vendor: 'openai', baseUrl: openai.url }),
  server: openai,
  models: { edits: 'gpt-image-1', describes: 'dall-e-3' },
})

const google = startPictureServer()
imageSuite('google', {
  driver: createAiSdkDriver({ ...shared, vendor: 'google', baseUrl: google.url }),
  server: google,
  models: { edits: 'gemini-2.5-flash-image' },
})
