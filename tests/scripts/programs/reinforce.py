"""A policy that learns from its own episodes in a world of its own."""

import argparse

import torch
from torch import nn, optim
from torch.distributions import Categorical

parser = argparse.ArgumentParser()
parser.add_argument("--gamma", type=float, default=0.99)
parser.add_argument("--episodes", type=int, default=2)
args = parser.parse_args()


class World:
    def reset(self):
        self.place, self.left = torch.zeros(4), 10
        return self.place

    def step(self, action):
        self.place = self.place + (0.1 if action else -0.1) * torch.ones(4)
        self.left -= 1
        return self.place, float(self.place.abs().sum() < 2), self.left == 0


policy = nn.Sequential(nn.Linear(4, 64), nn.Dropout(0.6), nn.ReLU(), nn.Linear(64, 2)).to("cuda")
optimizer = optim.Adam(policy.parameters(), lr=1e-2)
world = World()
for episode in range(args.episodes):
    state, done, chances, rewards = world.reset(), False, [], []
    while not done:
        choice = Categorical(policy(state.to("cuda").unsqueeze(0)).softmax(dim=1))
        action = choice.sample()
        chances.append(choice.log_prob(action))
        state, reward, done = world.step(action.item())
        rewards.append(reward)
    total, returns = 0.0, []
    for reward in reversed(rewards):
        total = reward + args.gamma * total
        returns.insert(0, total)
    returns = torch.tensor(returns, device="cuda")
    returns = (returns - returns.mean()) / (returns.std() + 1e-8)
    loss = torch.cat([-chance * r for chance, r in zip(chances, returns, strict=True)]).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(episode, loss.item())
