/**
 * Calls every API of a server with the real packages at their defaults: `SVC_URL=… SVC_KEY=… bun bar.mjs`.
 * Prints each case that fails, then `N passed, M failed`. A word of the command line chooses cases by name.
 *
 * A prompt says what to do in plain words; with `SVC_SCRIPTED=1` also in the signs of the scripted upstream of the
 * tests.
 */
import assert from 'node:assert/strict'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAI as createOpenAI3 } from '@ai-sdk/openai-3'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import Anthropic from '@anthropic-ai/sdk'
import Anthropic0 from '@anthropic-ai/sdk-0'
import { ChatAnthropic } from '@langchain/anthropic'
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai'
import { Agent, OpenAIProvider, Runner, tool as toolOfAgents } from '@openai/agents'
import * as ai from 'ai'
import * as ai6 from 'ai-6'
import { createAgent, tool as toolOfLangChain } from 'langchain'
import OpenAI, { AzureOpenAI, toFile } from 'openai'
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod'
import OpenAI6 from 'openai-6'
import { z } from 'zod'

const origin = (process.env.SVC_URL ?? 'http://127.0.0.1:3400').replace(/\/+$/, '')
const apiKey = process.env.SVC_KEY ?? ''
const baseURL = `${origin}/v1`
const model = 'svc-1-flash'
const embedding = 'svc-1-embed-local'

const signs = process.env.SVC_SCRIPTED ? (words) => ` ${words}` : () => ''
const SAY = `Say hello to the lighthouse keeper.${signs('[[say:Hello, keeper.]]')}`
const PLAN = `Use get_weather with location "Oslo".${signs('[[plan:get_weather{"location":"Oslo"}]] [[say:Oslo: Snow.]]')}`
const WORDS = 'Write a person: the name is Ada, the age is 36.'
const PERSON = `${WORDS}${signs('[[say:{"name":"Ada","age":36}]]')}`
const CALLED = `${WORDS} Use extract.${signs('[[plan:extract{"name":"Ada","age":36}]]')}`
const Person = z.object({ name: z.string(), age: z.number() })
const Place = z.object({ location: z.string() })
const WEATHER = {
  type: 'object',
  properties: { location: { type: 'string' } },
  required: ['location'],
  additionalProperties: false,
}
const about = 'Gets the weather of a location.'
const user = (content) => [{ role: 'user', content }]

/** @type {[string, () => Promise<void>][]} */
const cases = []
const add = (name, run) => cases.push([name, run])

/** A text with words in it. */
function assertText(text) {
  assert.equal(typeof text, 'string')
  assert.match(text, /\w/)
}

function assertCounts(...counts) {
  for (const count of counts) assert.ok(Number.isInteger(count) && count >= 0, `${count} is no count`)
}

async function assertRefused(promise, status, code) {
  const error = await promise.then(
    () => null,
    (reason) => reason,
  )
  assert.ok(error, 'was answered')
  assert.equal(error.status, status)
  if (code) assert.equal(error.code, code)
  return error
}

/** What a server without a program or an engine for sound may say instead. */
async function orUnavailable(promise) {
  try {
    return await promise
  } catch (error) {
    if (error.status === 503 && /unavailable/.test(error.code)) return null
    throw error
  }
}

for (const [name, Client] of [
  ['openai 7', OpenAI],
  ['openai 6', OpenAI6],
]) {
  const client = new Client({ baseURL, apiKey })
  const chat = (content, more) => client.chat.completions.create({ model, messages: user(content), ...more })
  const tools = [{ type: 'function', function: { name: 'get_weather', description: about, parameters: WEATHER } }]

  add(`${name}: models`, async () => {
    const { data } = await client.models.list()
    assert.ok(data.some(({ id }) => id === model))
    assert.equal((await client.models.retrieve(model)).id, model)
    await assertRefused(client.models.retrieve('no-such-model'), 404)
  })
  add(`${name}: chat`, async () => {
    const { choices, usage, object } = await chat(SAY)
    assert.equal(object, 'chat.completion')
    assertText(choices[0].message.content)
    assert.equal(choices[0].finish_reason, 'stop')
    assertCounts(usage.prompt_tokens, usage.completion_tokens, usage.completion_tokens_details.reasoning_tokens)
    assert.equal(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens)
  })
  add(`${name}: chat, streamed`, async () => {
    const stream = await chat(SAY, { stream: true, stream_options: { include_usage: true } })
    let [text, usage] = ['', null]
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? ''
      usage = chunk.usage ?? usage
    }
    assertText(text)
    assertCounts(usage.total_tokens)
  })
  add(`${name}: chat, stream helper`, async () => {
    const stream = client.chat.completions.stream({ model, messages: user(SAY) })
    assertText(await stream.finalContent())
  })
  add(`${name}: chat, tools over two turns`, async () => {
    const first = (await chat(PLAN, { tools })).choices[0]
    assert.equal(first.finish_reason, 'tool_calls')
    const [call] = first.message.tool_calls
    assert.deepEqual(JSON.parse(call.function.arguments), { location: 'Oslo' })
    const messages = [...user(PLAN), first.message, { role: 'tool', tool_call_id: call.id, content: 'Snow.' }]
    assertText((await client.chat.completions.create({ model, messages, tools })).choices[0].message.content)
  })
  add(`${name}: chat, tools in a stream`, async () => {
    const stream = client.chat.completions.stream({ model, messages: user(PLAN), tools })
    const { choices } = await stream.finalChatCompletion()
    assert.deepEqual(JSON.parse(choices[0].message.tool_calls[0].function.arguments), { location: 'Oslo' })
  })
  add(`${name}: chat, run of tools`, async () => {
    const [{ function: described }] = tools
    const handled = { ...described, parse: JSON.parse, function: ({ location }) => `Snow in ${location}.` }
    const runner = client.chat.completions.runTools({
      ...{ model, messages: user(PLAN), tools: [{ type: 'function', function: handled }] },
    })
    assertText(await runner.finalContent())
  })
  add(`${name}: chat, parsed`, async () => {
    const response_format = zodResponseFormat(Person, 'person')
    const { choices } = await client.chat.completions.parse({ model, messages: user(PERSON), response_format })
    assert.equal(typeof choices[0].message.parsed.age, 'number')
  })
  add(`${name}: chat, parameters`, async () => {
    const { choices } = await chat(`Count from one to fifty.${signs('[[tokens:50]]')}`, {
      ...{ max_completion_tokens: 5, temperature: 0.5, top_p: 0.9, seed: 1, stop: ['zzz'], user: 'u' },
    })
    assert.equal(choices[0].finish_reason, 'length')
  })

  add(`${name}: responses`, async () => {
    const response = await client.responses.create({ model, input: SAY })
    assert.equal(response.status, 'completed')
    assertText(response.output_text)
    assertCounts(response.usage.input_tokens, response.usage.output_tokens_details.reasoning_tokens)
    assert.equal((await client.responses.retrieve(response.id)).output_text, response.output_text)
    const next = { model, input: SAY, previous_response_id: response.id }
    assertText((await client.responses.create(next)).output_text)
    await client.responses.delete(response.id)
    await assertRefused(client.responses.retrieve(response.id), 404)
  })
  add(`${name}: responses, streamed`, async () => {
    const stream = client.responses.stream({ model, input: SAY })
    let text = ''
    stream.on('response.output_text.delta', ({ delta }) => {
      text += delta
    })
    assert.equal((await stream.finalResponse()).output_text, text)
    assertText(text)
  })
  add(`${name}: responses, tools over two turns`, async () => {
    const offered = [{ type: 'function', name: 'get_weather', description: about, parameters: WEATHER, strict: true }]
    const input = user(PLAN)
    const first = await client.responses.create({ model, input, tools: offered })
    const calls = first.output.filter(({ type }) => type === 'function_call')
    assert.deepEqual(JSON.parse(calls[0].arguments), { location: 'Oslo' })
    input.push(...first.output)
    for (const { call_id } of calls) input.push({ type: 'function_call_output', call_id, output: 'Snow.' })
    assertText((await client.responses.create({ model, input, tools: offered })).output_text)
  })
  add(`${name}: responses, parsed`, async () => {
    const text = { format: zodTextFormat(Person, 'person') }
    const { output_parsed } = await client.responses.parse({ model, input: PERSON, text })
    assert.equal(typeof output_parsed.age, 'number')
  })
  add(`${name}: conversations`, async () => {
    const { id } = await client.conversations.create({})
    assertText((await client.responses.create({ model, input: SAY, conversation: id })).output_text)
    const { data } = await client.conversations.items.list(id)
    assert.ok(data.length >= 2)
    await client.conversations.delete(id)
  })

  add(`${name}: embeddings`, async () => {
    const input = ['Reset my password', 'The weather is nice']
    const packed = await client.embeddings.create({ model: embedding, input })
    const plain = await client.embeddings.create({ model: embedding, input, encoding_format: 'float' })
    assert.deepEqual([...packed.data[1].embedding], plain.data[1].embedding)
    assert.equal(packed.data[0].embedding.length, 512)
    assertCounts(packed.usage.prompt_tokens)
  })
  add(`${name}: moderations`, async () => {
    const { results } = await client.moderations.create({ input: ['The weather is nice today.', 'Hello there.'] })
    assert.equal(results.length, 2)
    assert.equal(results[0].flagged, false)
    assert.equal(typeof results[0].category_scores.hate, 'number')
  })
  add(`${name}: images`, async () => {
    const { data } = await client.images.generate({ model: 'gpt-image-1', prompt: 'A lighthouse by the sea' })
    assert.ok(Buffer.from(data[0].b64_json, 'base64').length > 50)
    const named = await client.images.generate({ prompt: 'A lighthouse by the sea' })
    assert.match(named.data[0].url, /^http/)
    await assertRefused(client.images.generate({ prompt: 'x', n: 5 }), 400)
  })
  add(`${name}: speech`, async () => {
    const order = { model: 'tts-1', voice: 'alloy', input: 'The tide comes in.' }
    const answer = await orUnavailable(client.audio.speech.create(order))
    if (answer) assert.ok((await answer.arrayBuffer()).byteLength > 100)
  })
  add(`${name}: transcriptions`, async () => {
    const order = { model: 'whisper-1', file: await toFile(silence(), 'a.wav', { type: 'audio/wav' }) }
    const answer = await orUnavailable(client.audio.transcriptions.create(order))
    if (answer) assert.equal(typeof answer.text, 'string')
  })
  add(`${name}: files`, async () => {
    const file = await client.files.create({ file: await toFile(Buffer.from('words'), 'a.txt'), purpose: 'user_data' })
    assert.equal(file.bytes, 5)
    assert.equal((await client.files.retrieve(file.id)).filename, 'a.txt')
    assert.equal(await (await client.files.content(file.id)).text(), 'words')
    const listed = []
    for await (const { id } of client.files.list({ limit: 1 })) {
      listed.push(id)
      if (listed.length === 3) break
    }
    assert.ok(listed.length > 0)
    assert.equal((await client.files.delete(file.id)).deleted, true)
    await assertRefused(client.files.retrieve(file.id), 404)
  })
  add(`${name}: batches`, async () => {
    const endpoint = '/v1/chat/completions'
    const line = { custom_id: 'a', method: 'POST', url: endpoint, body: { model, messages: user(SAY) } }
    const file = await toFile(Buffer.from(JSON.stringify(line)), 'in.jsonl')
    const { id: input_file_id } = await client.files.create({ file, purpose: 'batch' })
    const made = await client.batches.create({ input_file_id, endpoint, completion_window: '24h' })
    let batch = made
    for (let tries = 0; tries < 300 && !batch.output_file_id && !batch.error_file_id; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 200))
      batch = await client.batches.retrieve(made.id)
    }
    assert.equal(batch.status, 'completed')
    const text = await (await client.files.content(batch.output_file_id)).text()
    assertText(JSON.parse(text).response.body.choices[0].message.content)
    assert.ok((await client.batches.list({ limit: 5 })).data.some(({ id }) => id === made.id))
    await assertRefused(client.batches.cancel(made.id), 409)
  })
  add(`${name}: errors`, async () => {
    const wrong = new Client({ baseURL, apiKey: 'svc_sk_live_none' })
    await assertRefused(wrong.models.list(), 401)
    const bad = await assertRefused(client.chat.completions.create({ model, messages: 'words' }), 400)
    assert.equal(bad.param, 'messages')
    assert.match(bad.requestID, /^req_/)
    await assertRefused(client.images.createVariation({ image: await toFile(Buffer.from('x'), 'a.png') }), 404)
  })
}

add('openai 7: Azure', async () => {
  const client = new AzureOpenAI({ endpoint: origin, apiKey, apiVersion: '2024-10-21', deployment: model })
  assertText((await client.chat.completions.create({ model: '', messages: user(SAY) })).choices[0].message.content)
})

for (const [name, Client] of [
  ['@anthropic-ai/sdk 1', Anthropic],
  ['@anthropic-ai/sdk 0', Anthropic0],
]) {
  const client = new Client({ baseURL: origin, apiKey })
  const order = (content, more) => ({ model, max_tokens: 500, messages: user(content), ...more })
  const tools = [{ name: 'get_weather', description: about, input_schema: WEATHER }]

  add(`${name}: messages`, async () => {
    const message = await client.messages.create(order(SAY))
    assert.equal(message.stop_reason, 'end_turn')
    assertText(message.content[0].text)
    assertCounts(message.usage.input_tokens, message.usage.output_tokens, message.usage.cache_read_input_tokens)
  })
  add(`${name}: messages, streamed`, async () => {
    const stream = client.messages.stream(order(SAY))
    let text = ''
    stream.on('text', (piece) => {
      text += piece
    })
    assert.equal(await stream.finalText(), text)
    assertText(text)
  })
  add(`${name}: messages, tools over two turns`, async () => {
    const first = await client.messages.create(order(PLAN, { tools }))
    assert.equal(first.stop_reason, 'tool_use')
    const { id, input } = first.content.find(({ type }) => type === 'tool_use')
    assert.deepEqual(input, { location: 'Oslo' })
    const result = { type: 'tool_result', tool_use_id: id, content: 'Snow.' }
    const turns = [...user(PLAN), { role: 'assistant', content: first.content }, { role: 'user', content: [result] }]
    const second = await client.messages.stream({ ...order('', { tools }), messages: turns }).finalMessage()
    assertText(second.content.find(({ type }) => type === 'text').text)
  })
  add(`${name}: count of tokens, models, errors`, async () => {
    const { input_tokens } = await client.messages.countTokens({ model, messages: user(SAY) })
    assert.ok(input_tokens > 5)
    assert.ok((await client.models.list()).data.some(({ id }) => id === model))
    await assertRefused(client.messages.create({ model, messages: user(SAY) }), 400)
    await assertRefused(new Client({ baseURL: origin, apiKey: 'svc_sk_live_none' }).messages.create(order(SAY)), 401)
  })
}

const openai = createOpenAI({ baseURL, apiKey })
const openai3 = createOpenAI3({ baseURL, apiKey })
const anthropic = createAnthropic({ baseURL, apiKey })
const compatible = createOpenAICompatible({ name: 'svc', baseURL, apiKey })

for (const [name, sdk, chosen, embedder] of [
  ['ai 7, @ai-sdk/openai', ai, openai(model), openai.embedding(embedding)],
  ['ai 7, @ai-sdk/openai chat', ai, openai.chat(model), null],
  ['ai 7, @ai-sdk/anthropic', ai, anthropic(model), null],
  ['ai 7, @ai-sdk/openai-compatible', ai, compatible(model), compatible.embeddingModel(embedding)],
  ['ai 6, @ai-sdk/openai 3', ai6, openai3(model), openai3.embedding(embedding)],
]) {
  const get_weather = sdk.tool({
    ...{ description: about, inputSchema: Place },
    execute: ({ location }) => `Snow in ${location}.`,
  })
  const running = { model: chosen, prompt: PLAN, tools: { get_weather }, stopWhen: sdk.stepCountIs(3) }

  add(`${name}: text`, async () => {
    const { text, usage } = await sdk.generateText({ model: chosen, prompt: SAY })
    assertText(text)
    assertCounts(usage.inputTokens, usage.outputTokens)
  })
  add(`${name}: text, streamed`, async () => {
    assertText(await sdk.streamText({ model: chosen, prompt: SAY }).text)
  })
  add(`${name}: tools`, async () => {
    const { text, steps } = await sdk.generateText(running)
    assert.equal(steps.length, 2)
    assertText(text)
  })
  add(`${name}: tools, streamed`, async () => {
    assertText(await sdk.streamText(running).text)
  })
  // This package sends no schema in its default, so only an upstream that knows it can fit it.
  if (chosen.provider !== 'svc.chat' || process.env.SVC_SCRIPTED)
    add(`${name}: object`, async () => {
      const output = sdk.Output.object({ schema: Person })
      const { output: person } = await sdk.generateText({ model: chosen, prompt: PERSON, output })
      assert.equal(typeof person.age, 'number')
    })
  if (embedder)
    add(`${name}: vectors`, async () => {
      const { embeddings } = await sdk.embedMany({ model: embedder, values: ['one text', 'another'] })
      assert.deepEqual(
        embeddings.map(({ length }) => length),
        [512, 512],
      )
    })
}
add('ai 7, @ai-sdk/openai: image', async () => {
  const { image } = await ai.generateImage({ model: openai.image('gpt-image-1'), prompt: 'A lighthouse by the sea' })
  assert.ok(image.uint8Array.length > 50)
})

const agentTool = toolOfAgents({
  ...{ name: 'get_weather', description: about, parameters: Place },
  execute: async ({ location }) => `Snow in ${location}.`,
})
const runner = new Runner({ modelProvider: new OpenAIProvider({ apiKey, baseURL }), tracingDisabled: true })
const agent = new Agent({ name: 'Weather', instructions: 'Be brief.', model, tools: [agentTool] })
add('@openai/agents: a run', async () => {
  assertText((await runner.run(agent, PLAN)).finalOutput)
})
add('@openai/agents: a run, streamed', async () => {
  const run = await runner.run(agent, PLAN, { stream: true })
  await run.completed
  assertText(run.finalOutput)
})

const chainTool = toolOfLangChain(({ location }) => `Snow in ${location}.`, {
  ...{ name: 'get_weather', description: about, schema: Place },
})
for (const [name, llm] of [
  ['@langchain/openai', new ChatOpenAI({ model, apiKey, configuration: { baseURL } })],
  [
    '@langchain/openai, Responses',
    new ChatOpenAI({ model, apiKey, useResponsesApi: true, configuration: { baseURL } }),
  ],
  ['@langchain/anthropic', new ChatAnthropic({ model, apiKey, anthropicApiUrl: origin, maxTokens: 500 })],
]) {
  add(`${name}: text`, async () => {
    const { text, usage_metadata: usage } = await llm.invoke(SAY)
    assertText(text)
    assertCounts(usage.input_tokens, usage.output_tokens)
  })
  add(`${name}: text, streamed`, async () => {
    let text = ''
    for await (const piece of await llm.stream(SAY)) text += piece.text
    assertText(text)
  })
  add(`${name}: tools`, async () => {
    const { tool_calls: calls } = await llm.bindTools([chainTool]).invoke(PLAN)
    assert.deepEqual(calls[0].args, { location: 'Oslo' })
  })
  add(`${name}: object`, async () => {
    const person = await llm.withStructuredOutput(Person, { method: 'functionCalling' }).invoke(CALLED)
    assert.equal(typeof person.age, 'number')
  })
  add(`langchain, ${name}: an agent`, async () => {
    const made = createAgent({ model: llm, tools: [chainTool] })
    const { messages } = await made.invoke({ messages: user(PLAN) })
    assertText(messages.at(-1).text)
    assert.ok(messages.length >= 4)
  })
}
add('@langchain/openai: vectors', async () => {
  const made = new OpenAIEmbeddings({ model: embedding, apiKey, configuration: { baseURL } })
  assert.equal((await made.embedDocuments(['one text', 'another']))[1].length, 512)
})

/** Half a second of silence as WAV. */
function silence() {
  const bytes = Buffer.alloc(44 + 16_000)
  bytes.write('RIFF', 0)
  bytes.writeUInt32LE(36 + 16_000, 4)
  bytes.write('WAVEfmt ', 8)
  bytes.writeUInt32LE(16, 16)
  bytes.writeUInt16LE(1, 20)
  bytes.writeUInt16LE(1, 22)
  bytes.writeUInt32LE(16_000, 24)
  bytes.writeUInt32LE(32_000, 28)
  bytes.writeUInt16LE(2, 32)
  bytes.writeUInt16LE(16, 34)
  bytes.write('data', 36)
  bytes.writeUInt32LE(16_000, 40)
  return bytes
}

const wanted = process.argv[2] ?? ''
let [passed, failed] = [0, 0]
for (const [name, run] of cases.filter(([word]) => word.includes(wanted))) {
  try {
    await run()
    passed += 1
  } catch (error) {
    failed += 1
    process.stdout.write(
      `FAILED ${name}\n  ${String(error?.stack ?? error)
        .split('\n')
        .slice(0, 6)
        .join('\n  ')}\n`,
    )
  }
}
process.stdout.write(`${passed} passed, ${failed} failed\n`)
process.exit(failed ? 1 : 0)
