import type { ImageModelV4, LanguageModelV4 } from '@ai-sdk/provider'

const VENDORS = ['anthropic', 'google', 'openai'] as const
export type Vendor = (typeof VENDORS)[number]

export type VendorOptions = { baseURL?: string; apiKey: string; headers: Record<string, string>; fetch: typeof fetch }

/** Makes a model of one vendor. `loadVendor` imports the package on first use, to keep start-up fast. */
type ModelOf = (options: VendorOptions, model: string) => LanguageModelV4

export const loadVendor: Record<Vendor, () => Promise<ModelOf>> = {
  anthropic: async () => {
    const { createAnthropic } = await import('@ai-sdk/anthropic')
    return (options, model) => createAnthropic(options)(model)
  },
  google: async () => {
    const { createGoogle } = await import('@ai-sdk/google')
    return (options, model) => createGoogle(options)(model)
  },
  openai: async () => {
    const { createOpenAI } = await import('@ai-sdk/openai')
    return (options, model) => createOpenAI(options)(model)
  },
}

type ImageModelOf = (options: VendorOptions, model: string) => ImageModelV4

/** The image models of the vendors that have any. */
export const loadImageVendor: Partial<Record<Vendor, () => Promise<ImageModelOf>>> = {
  google: async () => {
    const { createGoogle } = await import('@ai-sdk/google')
    return (options, model) => createGoogle(options).image(model)
  },
  openai: async () => {
    const { createOpenAI } = await import('@ai-sdk/openai')
    return (options, model) => createOpenAI(options).image(model)
  },
}

/** Each vendor's own address, as its package has it; asked only for the list of models. */
export const VENDOR_URLS: Record<Vendor, string> = {
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
  openai: 'https://api.openai.com/v1',
}

/** How each vendor wants its key. */
export const VENDOR_HEADERS: Record<Vendor, (apiKey: string) => Record<string, string>> = {
  anthropic: (apiKey) => ({ 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' }),
  google: (apiKey) => ({ 'x-goog-api-key': apiKey }),
  openai: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
}
