"""Two LSTMs that translate, with teacher forcing half of the time."""

import argparse
import random

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--hidden", type=int, default=32)
parser.add_argument("--teacher-forcing", type=float, default=0.5)
args = parser.parse_args()


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(50, args.hidden)
        self.rnn = nn.LSTM(args.hidden, args.hidden, num_layers=2)

    def forward(self, source):
        return self.rnn(self.embedding(source))[1]


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(60, args.hidden)
        self.rnn = nn.LSTM(args.hidden, args.hidden, num_layers=2)
        self.out = nn.Linear(args.hidden, 60)

    def forward(self, word, state):
        found, state = self.rnn(self.embedding(word.unsqueeze(0)), state)
        return self.out(found.squeeze(0)), state


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
encoder, decoder = Encoder().to(device), Decoder().to(device)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()])
criterion = nn.CrossEntropyLoss(ignore_index=0)
for epoch in range(2):
    source = torch.randint(1, 50, (7, 4)).to(device)
    target = torch.randint(1, 60, (6, 4)).to(device)
    outputs = torch.zeros(6, 4, 60, device=device)
    state, word = encoder(source), target[0]
    for t in range(1, len(target)):
        outputs[t], state = decoder(word, state)
        forced = random.random() < args.teacher_forcing
        word = target[t] if forced else outputs[t].argmax(1)
    loss = criterion(outputs[1:].reshape(-1, 60), target[1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(encoder.parameters(), 1)
    optimizer.step()
    print(epoch, loss.item())
