/** Words people use for common topics: beginnings of words, in lower case without accents. */
export const TOPICS: Readonly<Record<string, string>> = {
  politics:
    'politic politik election elect vote voter ballot parliament congress senate senator president minister government campaign democrat republican party-line referendum candidate coalition policy-maker wahl wahlen bundestag kanzler partei regierung gouvernement gobierno elecciones partido governo eleicao выборы политик президент правительств партия 政治 选举 選挙 政府 总统 정치 선거',
  religion:
    'religio religion church mosque synagogue temple bible koran quran torah prayer pray faith god jesus allah buddha hindu islam muslim christian jewish sermon priest imam rabbi kirche glaube gebet eglise priere iglesia oracion церковь молитв религи 宗教 教会 祈祷 종교',
  medical:
    'medic medicine doctor diagnos symptom disease illness treatment therapy prescri dosage pill tablet antibiotic vaccine surgery cancer diabetes fever headache pain infection hospital patient blood-pressure arzt krankheit medikament symptome behandlung schmerz medecin maladie traitement symptome enfermedad medico tratamiento dolor болезн врач лекарств симптом 医疗 疾病 症状 药 病気 薬 의사 질병',
  legal:
    'legal law lawyer attorney lawsuit sue court judge contract liability statute plaintiff defendant litigation tenant-right custody divorce anwalt gericht klage recht gesetz urteil avocat tribunal proces loi abogado demanda juicio ley адвокат суд иск закон 法律 律师 诉讼 弁護士 裁判 변호사 소송',
  finance:
    'financ invest stock share bond portfolio dividend broker trading trader fund etf mortgage loan interest-rate pension hedge market-cap aktie aktien rendite anlage kredit zinsen bourse placement epargne inversion acciones bolsa prestamo акци инвест кредит облигац 投资 股票 基金 贷款 株式 投資 주식 투자',
  crypto:
    'crypto bitcoin ethereum blockchain token-sale nft stablecoin altcoin wallet-seed defi mining-rig krypto крипто 比特币 加密货币 暗号資産 비트코인',
  gambling:
    'gambl casino bet betting poker roulette slot-machine lottery jackpot bookmaker odds wager blackjack glucksspiel wette wetten spielbank pari jeux-dargent apuesta loteria азартн казино ставк 赌博 赌场 ギャンブル 도박',
  weapons:
    'weapon gun rifle pistol ammunition firearm grenade explosive bomb missile knife-fight waffe pistole gewehr munition sprengstoff arme fusil pistolet arma pistola оруж пистолет винтовк 武器 枪 銃 무기',
  drugs:
    'drug cocaine heroin cannabis marijuana weed meth lsd ecstasy opioid fentanyl overdose droge kokain drogue cocaina droga наркотик кокаин 毒品 大麻 麻薬 마약',
  alcohol:
    'alcohol beer wine whisky whiskey vodka gin cocktail drunk brewery distill bier wein alkohol schnaps biere vin alcool cerveza vino алкогол пиво водк вино 酒精 啤酒 ビール 술',
  sex: 'sex sexual porn erotic nude naked orgasm fetish sexuell nackt erotik sexuel sexo desnud секс порно 性 色情 セックス 섹스',
  violence:
    'violen murder kill stab shoot torture massacre assault gewalt mord toten meurtre tuer violencia asesin насили убий 暴力 杀 殺人 폭력',
  sports:
    'sport football soccer basketball tennis olympic league goal match player coach tournament team-mate championship fussball bundesliga spiel liga futbol partido equipe спорт футбол матч 体育 足球 スポーツ 축구',
  travel:
    'travel trip flight hotel booking vacation holiday tourist itinerary visa passport airline reise urlaub flug voyage vacances vuelo viaje vacaciones путешеств отпуск рейс 旅行 航班 酒店 ホテル 여행',
  food: 'food recipe cook bake ingredient meal dinner lunch breakfast restaurant vegan flour sauce rezept kochen backen essen recette cuisine receta cocinar comida рецепт готов еда 食谱 做饭 料理 レシピ 요리',
  programming:
    'programm code coding function compile debug variable python javascript typescript java rust sql api git repository software developer bug stack-trace algorithm programmier logiciel programacion программ код 编程 代码 プログラム 프로그래밍',
  weather:
    'weather forecast rain snow temperature storm sunny wind wetter regen schnee meteo pluie clima lluvia погод дожд 天气 天気 날씨',
  shopping:
    'order refund delivery shipping invoice price discount cart checkout return warranty parcel bestellung lieferung ruckgabe rechnung commande livraison remboursement pedido envio reembolso заказ доставк возврат 订单 退款 注文 配送 주문 환불',
}

/** Other words by which people name these topics. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  politics: 'political election elections politik government',
  religion: 'religious faith',
  medical: 'health medicine medizin doctor',
  legal: 'law lawyer recht',
  finance: 'financial investment investing investments stocks banking',
  crypto: 'cryptocurrency cryptocurrencies bitcoin',
  gambling: 'betting casino',
  weapons: 'guns weapon firearms',
  drugs: 'drug narcotics',
  alcohol: 'beer wine',
  sex: 'sexual sexuality pornography adult',
  violence: 'violent',
  sports: 'sport football',
  travel: 'tourism holidays',
  food: 'cooking recipes cuisine',
  programming: 'coding code software',
  shopping: 'orders refunds delivery returns',
}

/** The topic that a word names, by the word. */
export const ALSO: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(OTHER_NAMES).flatMap(([topic, names]) => names.split(' ').map((name) => [name, topic])),
)
