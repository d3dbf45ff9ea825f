import { allFakers, type Faker } from '@faker-js/faker'
import type { Marked } from './learn-names'

/**
 * Addresses in the formats of some thirty countries, in plain sentences. Streets, places and codes come from the
 * `@faker-js/faker` package. Used for training besides the writers' texts, never for measuring. Identical in every run.
 */
export function madeAddresses(): Marked[] {
  return Object.entries(FORMS).flatMap(([locale, forms]) => {
    const faker = allFakers[locale as keyof typeof allFakers]
    faker.seed(SEED)
    return Array.from({ length: EACH }, (_, at) => madeBy(faker, locale.slice(0, 2), forms[at % forms.length]!, at))
  })
}

const SEED = 7
/** Number per country. With twice as many, names are detected less well. */
const EACH = 60

/** The lines of an address. */
type Form = (by: Faker) => string[]

const upTo = (by: Faker, max: number, min = 1): number => by.number.int({ min: min, max: max })
const street = (by: Faker): string => by.location.street()
const house = (by: Faker): string => `${upTo(by, 299)}${upTo(by, 10) > 1 ? '' : 'a'}`
const town = (by: Faker): string => `${by.location.zipCode()} ${by.location.city()}`
const sometimes = (by: Faker, text: string): string => (by.datatype.boolean() ? text : '')

const STREET_FIRST: Form = (by) => [`${street(by)} ${house(by)}`, town(by)]
const HOUSE_FIRST: Form = (by) => [`${house(by)} ${street(by)}`, town(by)]
const SHORT: Form = (by) => [`${street(by)} ${house(by)}`]

const FORMS: Readonly<Record<string, readonly Form[]>> = {
  en_US: [
    (by) => [
      `${house(by)} ${street(by)}${sometimes(by, `, Apt ${upTo(by, 40)}`)}`,
      `${by.location.city()}, ${by.location.state({ abbreviated: true })} ${by.location.zipCode()}`,
    ],
    (by) => [`${house(by)} ${street(by)}`, by.location.city()],
  ],
  en_GB: [
    (by) => [
      `${sometimes(by, `Flat ${upTo(by, 30)}, `)}${house(by)} ${street(by)}`,
      by.location.city(),
      by.location.zipCode(),
    ],
    (by) => [`${house(by)} ${street(by)}`, `${by.location.city()} ${by.location.zipCode()}`],
  ],
  en_IN: [
    (by) => [`Flat ${upTo(by, 900)}, ${street(by)}`, `${by.location.city()} ${upTo(by, 855_117, 110_001)}`],
    (by) => [`H.No. ${house(by)}, ${street(by)}`, `${by.location.city()} - ${upTo(by, 855_117, 110_001)}`],
  ],
  en_AU: [
    (by) => [`${house(by)} ${street(by)}`, `${by.location.city()} ${by.location.state({ abbreviated: true })} 3000`],
  ],
  en_CA: [(by) => [`${house(by)} ${street(by)}`, `${by.location.city()}, ON ${by.location.zipCode()}`]],
  de: [
    STREET_FIRST,
    SHORT,
    (by) => [
      `${street(by)} ${house(by)}`,
      `${sometimes(by, 'D-')}${town(by)} ${by.helpers.arrayElement(['am Main', 'an der Ruhr', 'im Breisgau', 'bei Köln'])}`,
    ],
  ],
  de_AT: [STREET_FIRST],
  de_CH: [STREET_FIRST],
  fr: [
    (by) => [`${house(by)}${sometimes(by, ' bis')}, ${street(by).toLowerCase()}`, town(by)],
    HOUSE_FIRST,
    (by) => [`${house(by)} ${street(by)}`],
  ],
  fr_CH: [STREET_FIRST],
  es: [
    (by) => [`${street(by)}, ${house(by)}${sometimes(by, `, ${upTo(by, 9)}º B`)}`, town(by)],
    (by) => [`C/ ${by.person.lastName()} ${house(by)}`, town(by)],
    (by) => [`Calle ${by.person.lastName()} ${house(by)}`, town(by)],
  ],
  pt_PT: [
    (by) => [`${street(by)}, ${house(by)}${sometimes(by, `, ${upTo(by, 9)}º Esq`)}`, town(by)],
    (by) => [`Rua ${by.person.lastName()} ${house(by)}`, town(by)],
  ],
  pt_BR: [
    (by) => [
      `Rua ${by.person.lastName()}, ${house(by)}`,
      `${by.location.city()} - ${by.location.state({ abbreviated: true })}${sometimes(by, `, ${by.location.zipCode()}`)}`,
    ],
  ],
  it: [STREET_FIRST, (by) => [`${street(by)}, ${house(by)}`, town(by)]],
  nl: [STREET_FIRST],
  pl: [
    (by) => [`${street(by)} ${house(by)}${sometimes(by, `/${upTo(by, 60)}`)}`, town(by)],
    (by) => [`ul. ${by.person.lastName()} ${house(by)}/${upTo(by, 60)}`, town(by)],
  ],
  uk: [
    (by) => [
      `вул. ${by.person.lastName()}, ${sometimes(by, 'буд. ')}${house(by)}${sometimes(by, `, кв. ${upTo(by, 90)}`)}`,
      `${sometimes(by, 'м. ')}${by.location.city()}${sometimes(by, `, ${by.location.zipCode()}`)}`,
    ],
  ],
  ru: [(by) => [`ул. ${by.person.lastName()}, д. ${house(by)}, кв. ${upTo(by, 90)}`, `г. ${by.location.city()}`]],
  tr: [(by) => [`${street(by)} No: ${house(by)}`, by.location.city()]],
  sv: [STREET_FIRST],
  cs_CZ: [STREET_FIRST],
  vi: [
    (by) => [`${house(by)} Đường ${by.person.lastName()}`, `Quận ${upTo(by, 12)}`, by.location.city()],
    (by) => [`Số ${house(by)} ${street(by)}`, by.location.city()],
  ],
  ar: [(by) => [`${street(by)} ${house(by)}`, by.location.city()]],
  ja: [
    (by) => [
      `${sometimes(by, `〒${by.location.zipCode()} `)}${by.location.state()}${by.location.city()}${upTo(by, 9)}-${upTo(by, 30)}-${upTo(by, 30)}`,
    ],
  ],
  zh_CN: [
    (by) => [
      `${by.location.state()}${by.location.city()}${street(by)}${house(by)}号${sometimes(by, `${upTo(by, 20)}栋${upTo(by, 2_502, 101)}室`)}`,
    ],
    (by) => [`${by.location.city()}市${street(by)}${house(by)}号`],
  ],
  ko: [
    (by) => [
      `${by.location.state()} ${by.location.city()} ${street(by)} ${house(by)}${sometimes(by, `, ${upTo(by, 130, 101)}동 ${upTo(by, 2_502, 101)}호`)}`,
    ],
  ],
}

/** Sentences around an address `@` and a name `N`. */
const SENTENCES: Readonly<Record<string, readonly string[]>> = {
  en: [
    'Please send it to @, thanks.',
    'Address: @',
    'N lives at @ now.',
    'the parcel for N goes to @',
    'Ship to:\n@\nand call me.',
    'She moved from @ in May.',
    'Dear N,\nwe have @ on file. Is that still right?',
    'N\n@',
    'pick up at @, ring N',
  ],
  de: [
    'Bitte schicken Sie es an @.',
    'Anschrift: @',
    'N wohnt jetzt in der @',
    'N\n@',
    'Die Lieferung an N, @, fehlt.',
  ],
  fr: ['Veuillez l’envoyer au @.', 'Adresse : @', 'N habite au @', 'N\n@', 'Livraison chez N, @, avant midi'],
  es: ['Envíelo a @, por favor.', 'Dirección: @', 'N vive en @', 'N\n@', 'domicilio en @ desde 2019'],
  pt: ['Envie para @, por favor.', 'Morada: @', 'N mora na @', 'N\n@'],
  it: ['Inviatelo a @, grazie.', 'Indirizzo: @', 'N abita in @', 'N\n@'],
  nl: ['Stuur het naar @.', 'Adres: @', 'N woont op @', 'N\n@'],
  pl: ['Proszę wysłać na @.', 'Adres: @', 'N mieszka przy @', 'N\n@'],
  uk: ['Надішліть на @, дякую.', 'Адреса: @', 'N живе за адресою @', 'N\n@'],
  ru: ['Отправьте по адресу @.', 'Адрес: @', 'N живёт: @'],
  ja: ['住所は@です。', '届け先：@', 'Nさんは@に住んでいます。'],
  zh: ['地址是@。', '收货地址：@', 'N住在@'],
  ko: ['주소는 @입니다.', '배송지: @', 'N 씨는 @에 삽니다.'],
}
const ELSEWHERE = ['@', 'Address: @', 'N, @', 'N\n@']
const TOGETHER = new Set(['ja', 'zh', 'ko'])
const PLACES = /@|(?<![A-Za-z])N(?![a-z])/g

function madeBy(by: Faker, language: string, form: Form, at: number): Marked {
  const sentences = SENTENCES[language] ?? ELSEWHERE
  const sentence = sentences[at % sentences.length]!
  const address = form(by).join(sentence.includes('\n@') && at % 3 ? '\n' : ', ')
  const name = [by.person.firstName(), by.person.lastName()].join(TOGETHER.has(language) ? '' : ' ')
  const spans: Marked['spans'][number][] = []
  const text = sentence.replace(PLACES, (sign) => {
    const span = sign === '@' ? { kind: 'address', value: address } : { kind: 'name', value: name }
    spans.push(span)
    return span.value
  })
  return { text, spans, writer: 'made' }
}
