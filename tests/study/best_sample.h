// best_sample.h - a best.yaml as `tune` writes it, for tests of its readers.

#ifndef BEST_SAMPLE_H
#define BEST_SAMPLE_H

#define BEST_AGENT                                                                             \
    "agent:\n"                                                                                 \
    "  name: esarsa\n"                                                                         \
    "  alpha: 0.25\n"                                                                          \
    "  beta1: 0\n"                                                                             \
    "  tau: 1.0e-01\n"                                                                         \
    "  w_init: 0\n"                                                                            \
    "  lambda: 0.5\n"                                                                          \
    "  beta2: 0.999\n"                                                                         \
    "  tilings: 8\n"                                                                           \
    "  tiles: 4\n"                                                                             \
    "  features: pairs\n"                                                                      \
    "  optimiser: adam\n"

#define BEST_TASK                                                                              \
    "task:\n"                                                                                  \
    "  sensors:\n"                                                                             \
    "    - {name: \"temp\", unit: \"degC\", range: [0, 10], seen: [1, 9]}\n"                   \
    "    - {name: \"level\", range: [-1, 1], seen: [null, null]}\n"                            \
    "  action: \"pump\"\n"                                                                     \
    "  actions: [\"off\", \"on\"]\n"                                                           \
    "  reward: {name: \"cost\", formula: \"-abs(next[0] - 5)\", lowest: -5}\n"                 \
    "  continuing: true\n"                                                                     \
    "  gamma: 0.9\n"                                                                           \
    "  steps: 1000\n"

#define BEST_CHOSEN                                                                            \
    "chosen:\n"                                                                                \
    "  score: -40\n"                                                                           \
    "  interval: [-44, -36] # 95 %\n"                                                          \
    "  score_per: 80 # steps, in the model\n"                                                  \
    "  logged: {score: -60, interval: [-70, -50]}\n"

#define BEST_PROMISE                                                                           \
    "promise:\n"                                                                               \
    "  steps: 80\n"                                                                            \
    "  runs: 99\n"                                                                             \
    "  mean: [-12, -10, -9, -9]\n"                                                             \
    "  spread: [2, 2, 1, 1]\n"                                                                 \
    "  alarm: 4.5\n"                                                                           \
    "  false_alarms: 0.01\n"

#define BEST_ALL BEST_AGENT BEST_TASK BEST_CHOSEN BEST_PROMISE "rehearse: \"0.1.0\"\n"

#endif
